// Package nn runs the segmentation network.
package nn

import "errors"

// ErrDevice says that the inference library or the device is not usable here.
var ErrDevice = errors.New("device not usable")
