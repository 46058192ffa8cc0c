/** Lines for the log. */
export type Tell = (level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void

/** Says what is the case when it changes, and not each time it is seen. */
export class Changes {
  readonly #tell: Tell
  readonly #said = new Map<string, string>()

  constructor(tell: Tell) {
    this.#tell = tell
  }

  /** `what` is now `state`, said as `message` unless it was so before. The first one is said unless it is `usual`. */
  say(
    what: string, state: string, usual: string, level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>,
  ): void {
    if ((this.#said.get(what) ?? usual) === state) return
    this.#said.set(what, state)
    this.#tell(level, message, fields)
  }
}
