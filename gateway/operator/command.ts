/** What a command of the operator's command line is; the commands themselves are in commands.ts and application_commands.ts. */
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

/** Values of the options that were typed, by name; which of them a command takes is in its row. */
export interface Options {
  readonly [name: string]: string | boolean | readonly string[] | undefined
  readonly user?: string
  readonly 'client-id'?: string
  readonly name?: string
  readonly origin?: readonly string[]
  readonly active?: string
  readonly grace?: string
  readonly out?: string
  readonly top?: string
  readonly pair?: string
  readonly family?: string
  readonly rate?: string
  readonly token?: string
  readonly decimals?: string
  readonly scale?: string
  readonly faucet?: string
  readonly tick?: string
  readonly lot?: string
  readonly min?: string
  readonly max?: string
  readonly 'min-notional'?: string
  readonly maker?: string
  readonly taker?: string
  readonly category?: string
  readonly full?: boolean
  readonly 'without-history'?: boolean
  /** Of the command line itself, not of a command. */
  readonly 'data-dir'?: string
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

/** What the port answered; its shape is this version's own. */
export const get = async <T>(ask: Ask, path: string, body?: object): Promise<T> => (await ask(path, body)).json as T
