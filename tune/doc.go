// Package tune is the tuning loop and its vocabulary: a [Definition] says what is tuned, a
// [Problem] is its checked and compiled form, an [Evaluator] turns configurations into
// [Result] values, and [Run] lets a search strategy decide which ones.
//
// The package does not know what a device is: package tune/device evaluates on OpenCL, a
// recorded space or another process can stand in its place. It never times anything
// itself, and it never ranks what was not verified as if it were: results say which they
// are.
package tune
