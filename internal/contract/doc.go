// Package contract holds the tests of the service's contract, which run the built program over HTTP
// and its command line.
package contract
