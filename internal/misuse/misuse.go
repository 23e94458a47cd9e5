// Package misuse marks errors of what somebody asked for, as against those of the work itself: the
// command line ends with another exit code for them.
package misuse

import "fmt"

// Error is a wrong use of the program: of its flags, settings or names of files.
type Error struct{ message string }

func (e Error) Error() string { return e.message }

// Errorf makes an [Error]. What it formats is text only: no cause is wrapped.
func Errorf(format string, args ...any) error { return Error{fmt.Sprintf(format, args...)} }
