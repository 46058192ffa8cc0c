/** What a command of the operator's command line is. Those that ask the port stand beside their routes (route.ts). */
import type { Ask } from './client.ts'

/** The call was wrong: nothing was asked. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** What a command answers: for people, for programs, and whether all is well. */
export interface Shown {
  readonly text: string
  readonly json: unknown
  /** False: the answer is a bad one, exit code 1. */
  readonly good?: boolean
  /** Said on standard error beside the answer. */
  readonly warning?: string
}

/** Values of the options that were typed, by name; which of them a command takes, it says itself. */
export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** What was typed behind an option that is given once; `undefined`: it was not given. */
export function typedFor(options: Options, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

export interface OptionUse {
  readonly name: string
  /** What is typed behind it, in help; '': nothing. */
  readonly value: string
  /** Need not be given. */
  readonly optional?: boolean
  /** May be given several times. */
  readonly many?: boolean
}

export interface Command {
  /** One or two words. */
  readonly name: string
  /** What follows them, in the order it is typed. */
  readonly parameters: readonly string[]
  /** Options of its own. */
  readonly options?: readonly OptionUse[]
  readonly purpose: string
  /** What one should know before typing it. */
  readonly explains: string
  /** Its arguments in an example, and what that may print. */
  readonly example: readonly [call: string, prints: string]
  run(ask: Ask, parameters: readonly string[], options: Options): Promise<Shown>
}

export const said = (json: unknown, text: string): Shown => ({ json, text })
