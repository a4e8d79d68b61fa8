import fc from 'fast-check'

// A mutant is noticed by the first counterexample. Looking for a smaller one costs most of a run's time and helps nobody.
fc.configureGlobal({ endOnFailure: true })
