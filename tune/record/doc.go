// Package record keeps the results of runs and reads them back: the append-only run log
// that a run writes and resumes, the T4 and CSV files that others read, and the cache
// files of Kernel Tuner. [Losses] says what of a record a format has no place for.
//
// A run log is a text file of one JSON object a line: a [Header], a line for each result
// in the order of arrival, a line for each final measurement, and a line of the device's peaks
// where these were measured after the search. Every line is handed to the operating system
// before [Log.Append] returns, so a run that is killed loses at most the line that it was
// writing. The last member of each line is a checksum of what stands before
// it. A log with a damaged line is refused and left as it is; [ReadSkipping] and
// [Repair] go on without such lines. Tools that change lines must leave out the checksums and set the
// version in the header to 1, the version of logs that have none.
//
// What comes back from a log is what went in, to the last bit of a float64. Two things
// JSON has no words for are spelled out: numbers that are not finite stand as the texts
// "NaN", "+Inf" and "-Inf", and a reason that is not UTF-8 stands twice, readable and in
// base64.
package record
