/**
 * What a route of the operator's port is: one declaration in the file of its area. The server's routing and input
 * checks, the command line with its help, and the port's OpenAPI document (document.ts) derive from it.
 *
 * Input is one flat object of query or body fields, checked by the schemas before `run` sees it; `null` and absent are
 * the same. What is wrong is told in the words of the public interface (operations/schema_errors.ts).
 */
import type { Static, TObject, TSchema } from 'typebox'
import type { DecodedAnswer } from '../../core/layout/answers.ts'
import type { CommandType } from '../../core/layout/command.ts'
import { refusalByNumber, type RefusalCode } from '../../core/layout/refusals.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import type { State } from '../../core/state/state.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Applications } from '../../core/view/applications.ts'
import { compile, type Check } from '../operations/operation.ts'
import { Refused } from '../refused.ts'
import type { Admin } from './admin.ts'
import type { AuditStop } from './audit.ts'
import type { Options, OptionUse, Shown } from './command.ts'
import type { Gauges } from './metrics.ts'
import type { VaultDesk } from './vault_desk.ts'

/** What routes work with. */
export interface OperatorContext {
  readonly state: State
  /** The word APPLYING. */
  readonly gate: Int32Array
  readonly applications: Applications
  readonly admin: Admin
  /** Sequenced time, Unix milliseconds. */
  readonly time: () => number
  /** Counters of every thread. */
  readonly gauges: Gauges
  /** Which audit of the state failed, if one did. */
  readonly audits: Pick<AuditStop, 'failed'>
  /** What the vault thread said last. */
  readonly vault: Pick<VaultDesk, 'report'>
  /** Messages to the main thread, for the log. */
  readonly tell: (message: FromThread) => void
}

/** A field of the input as the command line has it typed. */
export interface Word<In> {
  readonly field: string & keyof In
  /** What stands for it in help, such as `USER_ID`. */
  readonly typed: string
  /** What it must be, in words; without it the schema says so. */
  readonly must?: string
}

/** One that is typed behind `--option`. Whether it may be left out is what the schema says of the field. */
export interface OptionWord<In> extends Word<In> {
  readonly option: string
  /** The value of what was typed, where the schema does not say it; throws a UsageError. */
  readonly value?: (text: string) => unknown
}

/** A command of the command line that asks a route. One route may have several. */
export interface RouteCommand<In, Out> {
  /** One or two words. */
  readonly name: string
  /** Fields that follow them, in the order they are typed. */
  readonly parameters?: readonly Word<In>[]
  readonly options?: readonly OptionWord<In>[]
  /** Options that the command line itself needs, for `run`. */
  readonly local?: readonly OptionUse[]
  /** What is missing among what was typed, in words; `null`: nothing. */
  readonly wants?: (input: In) => string | null
  /** Fields that the command itself says. */
  readonly fixed?: Partial<In>
  readonly purpose: string
  /** What one should know before typing it. */
  readonly explains: string
  /** Its arguments in an example, and what that may print. */
  readonly example: readonly [call: string, prints: string]
  /** The answer for people. */
  readonly show: (output: Out, input: In) => string
  /** What programs get, where that is not the answer as it came. */
  readonly json?: (output: Out) => unknown
  /** Whether the answer is a good one; a bad one has exit code 1. */
  readonly good?: (output: Out) => boolean
  /** Where one request does not do. */
  readonly run?: (ask: (input: In) => Promise<Out>, input: In, options: Options) => Promise<Shown>
}

export type Answered<Out> = Out | Refused | Promise<Out | Refused>

/** A status other than 200 of an answer that is no refusal. */
export interface OtherStatus<Out> {
  readonly status: number
  /** What it tells. */
  readonly means: string
  readonly when: (output: Out) => boolean
}

interface Declaration<Q extends TObject, B extends TObject, R extends TSchema> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** `true`: it changes something, or shows users or applications, and needs the operator's token. */
  readonly token: boolean
  readonly query?: Q
  /** Of a POST. */
  readonly body?: B
  readonly output: R
  readonly summary: string
  /** Markdown. */
  readonly description: string
  readonly refusals: readonly RefusalCode[]
  readonly example: { readonly input: NoInfer<Static<Q> & Static<B>>; readonly output: NoInfer<Static<R>> }
  /** The commands that ask it, or why there is none. */
  readonly commands: readonly RouteCommand<Static<Q> & Static<B>, Static<R>>[] | string
  readonly otherStatus?: OtherStatus<Static<R>>
  /** Content type of an answer that is text. */
  readonly type?: string
  readonly run: (context: OperatorContext, input: Static<Q> & Static<B>) => Answered<Static<R>>
}

/** A declared route; what its input and output are, its declaration has checked. */
export interface OperatorRoute {
  readonly operatorRoute: true
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly token: boolean
  readonly query: TObject | null
  readonly body: TObject | null
  readonly output: TSchema
  readonly summary: string
  readonly description: string
  readonly refusals: readonly RefusalCode[]
  readonly example: { readonly input: object; readonly output: unknown }
  readonly commands: readonly AnyCommand[] | string
  readonly otherStatus: OtherStatus<never> | null
  readonly type: string | null
  /**
   * Why an input is refused; `null`: it is not. The schema is compiled with the first one: the command line has none.
   */
  readonly check: (input: unknown) => Refused | null
  readonly run: (context: OperatorContext, input: never) => Answered<unknown>
}

/** A command whose input its words make. */
export type AnyCommand = RouteCommand<Record<string, unknown>, unknown>

type Empty = TObject<Record<never, never>>

/** Declares a route. */
export function operatorRoute<Q extends TObject = Empty, B extends TObject = Empty, R extends TSchema = TSchema>(
  declared: Declaration<Q, B, R>,
): OperatorRoute {
  const { query = null, body = null, type = null, otherStatus = null, ...rest } = declared
  const schema = query ?? body
  let compiled: Check | null = null
  const check = (input: unknown): Refused | null => (schema === null ? null : (compiled ??= compile(schema)).check(input))
  const commands = declared.commands as string | readonly AnyCommand[]
  return { operatorRoute: true, ...rest, commands, query, body, type, otherStatus, check }
}

/** A route with its name. */
export interface NamedRoute {
  /** What its export is called; `operationId` in the document. */
  readonly name: string
  readonly route: OperatorRoute
}

export const isRoute = (value: unknown): value is OperatorRoute => typeof value === 'object' && value !== null && 'operatorRoute' in value

const refusedBy = ({ code }: Decoded): Refused => new Refused(refusalByNumber(Number(code)).code as RefusalCode)

/** Sends a command to the engine and answers what `done` makes of its result, or `refusal` of one that is a refusal. */
export async function sendCommand<T extends CommandType, Out>(
  { admin }: OperatorContext, type: T, layout: Layout, values: Decoded, done: (result: DecodedAnswer<T>) => Out,
  refusal: (result: Decoded) => Refused = refusedBy,
): Promise<Out | Refused> {
  const result = await admin.send(type, layout, values)
  if (result === 'full') return new Refused('OVERLOADED')
  if (result === 'late') return new Refused('SERVICE_UNAVAILABLE')
  return result['code'] === 0 ? done(result as DecodedAnswer<T>) : refusal(result)
}

/** Refusals of every route that sends a command. */
export const SENDS: readonly RefusalCode[] = ['OVERLOADED', 'SERVICE_UNAVAILABLE']

/** Says in the log what an operator changed. */
export const note = ({ tell }: OperatorContext, message: string, fields: Record<string, unknown>): void =>
  tell({ type: 'log', level: 'warn', message, fields })
