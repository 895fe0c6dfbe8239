//! Starts only, filters, and the controller: what is not known is not told as a number.
