/** A member says where in its roll it stands; only the roll sets it. */
export interface Enrolled { place: number }

/**
 * Members that come and go with each call. A Set would give each of them a hash and outgrow its table every few calls, which takes several times
 * as long as to move one member here.
 */
export class Roll<M extends Enrolled> {
  readonly #members: M[] = []

  get size(): number {
    return this.#members.length
  }

  /** Those that are here now. */
  get all(): readonly M[] {
    return [...this.#members]
  }

  add(member: M): void {
    member.place = this.#members.push(member) - 1
  }

  /** Takes a member out; one that is not here changes nothing. */
  remove(member: M): void {
    if (this.#members[member.place] !== member) return
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[member.place] = last
    last.place = member.place
  }
}
