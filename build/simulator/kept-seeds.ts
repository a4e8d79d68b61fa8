/**
 * Seeds that once broke a law, each with what it found. They run first, for ever. A walk changes with the code that it walks through, so a
 * seed does not repeat its old path for ever; the finding itself has a test beside its source.
 */
export const keptSeeds: readonly number[] = [
  8, // a tool row drawn after its process had ended stayed a preview
  104, // a stop that could not be proven at the result left rows open behind a rejected task
  223, // a turn settled by history left the holds of its permissions waiting
  100_278, // a turn that history lacked, sent again just before a crash, was sent under the same ids once more
  2_012, // what history said of a turn while its process ended came after the next check had begun, and the task waited for a process that was gone
  1_564, // the late exit of an earlier process counted as the end of the present one, and a second one was started
  140_186, // the late exit of a process that was stopped before a resend counted as the end of the one that came after it
  141_530, // the same, behind another path
  172_695, // an owner who had a result applied again, and then said that it was not applied, broke the simulator's own law
]
