/** Something is not as the exchange promises it. */
export class Violation extends Error {
  override name = 'Violation'
}

/** The process, or one that follows it, ends here: thrown by the simulated world, never by the exchange. */
export class Crash extends Error {
  override name = 'Crash'
  readonly power: boolean
  constructor(where: string, power: boolean) {
    super(`${power ? 'the power fails' : 'the process is killed'} at: ${where}`)
    this.power = power
  }
}

/** The follower ends here; the exchange goes on. */
export class FollowerDied extends Error {
  override name = 'FollowerDied'
}
