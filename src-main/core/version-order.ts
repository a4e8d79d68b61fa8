const pattern = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/

/** Whether version `one` comes after `other` (Semantic Versioning 2.0.0, section 11). False when either is no version. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [pattern.exec(one), pattern.exec(other)]
  if (a === null || b === null) return false
  for (const part of [1, 2, 3]) {
    const difference = Number(a[part]) - Number(b[part])
    if (difference !== 0) return difference > 0
  }
  return preReleaseOrder(a[4], b[4]) > 0
}

/** A release comes after its pre-releases; numbers are compared as numbers and come before words. */
function preReleaseOrder(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined)
  const [a, b] = [one.split('.'), other.split('.')]
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [left, right] = [a[index], b[index]]
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1
    const numeric = [left, right].map((each) => /^\d+$/.test(each))
    if (numeric[0] === true && numeric[1] === true && Number(left) !== Number(right)) return Number(left) - Number(right)
    if (numeric[0] !== numeric[1]) return numeric[0] === true ? -1 : 1
    if (numeric[0] === false && left !== right) return left < right ? -1 : 1
  }
  return 0
}
