/** The commands of declared routes: what is typed becomes the input that the schema of the route asks for. */
import type { TObject } from 'typebox'
import type { Ask } from './client.ts'
import { UsageError, type Command, type Options, type OptionUse, type Shown } from './command.ts'
import type { AnyCommand, OperatorRoute, Word } from './route.ts'

/** What of a field's schema matters to who types it. */
interface Field {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Field[]
  readonly items?: Field
  readonly minimum?: number
  readonly maximum?: number
}
type AnyWord = Word<Record<string, unknown>>

/** The commands that ask `route`. */
export const commandsOf = (route: OperatorRoute): Command[] =>
  typeof route.commands === 'string' ? [] : route.commands.map((command) => commandOf(route, command))

function commandOf(route: OperatorRoute, command: AnyCommand): Command {
  const { name, parameters = [], options = [], local = [], fixed = {}, purpose, explains, example } = command
  const schema = route.query ?? route.body
  const fieldOf = ({ field }: AnyWord): Field => (schema?.properties as Readonly<Record<string, Field>> | undefined)?.[field] ?? {}
  const needed = new Set((schema as (TObject & { readonly required?: readonly string[] }) | null)?.required ?? [])
  const uses: OptionUse[] = options.map((word): OptionUse => ({
    name: word.option, value: word.typed, ...(needed.has(word.field) ? {} : { optional: true }),
    ...(fieldOf(word).items === undefined ? {} : { many: true }),
  })).concat(local)
  const inputOf = (typed: readonly string[], given: Options): Record<string, unknown> => ({
    ...Object.fromEntries(parameters.map((word, i) => [word.field, valueOf(fieldOf(word), typed[i]!, word.typed, word.must)])),
    ...Object.fromEntries(options.flatMap((word) => {
      const value = given[word.option]
      if (value === undefined || typeof value === 'boolean') return []
      const field = fieldOf(word)
      if (typeof value === 'string' && word.value !== undefined) return [[word.field, word.value(value)]]
      return [[word.field, typeof value === 'string' ? valueOf(field, value, `--${word.option}`, word.must) : [...value]]]
    })),
    ...fixed,
  })
  return {
    name, parameters: parameters.map(({ typed }) => typed), ...(uses.length === 0 ? {} : { options: uses }), purpose, explains, example,
    run: (ask, typed, given) => runRoute(ask, route, command, inputOf(typed, given), given),
  }
}

async function runRoute(
  ask: Ask, route: OperatorRoute, command: AnyCommand, input: Record<string, unknown>, options: Options,
): Promise<Shown> {
  const missing = command.wants?.(input) ?? null
  if (missing !== null) throw new UsageError(missing)
  const asked = async (fields: Record<string, unknown>): Promise<unknown> => {
    const { json, text } = await (route.method === 'GET' ? ask(`${route.path}${queryOf(fields)}`) : ask(route.path, fields))
    return route.type === null ? json : text
  }
  if (command.run !== undefined) return command.run(asked, input, options)
  const output = await asked(input)
  const { show, json = (given) => given, good = () => true } = command
  return { json: json(output), text: show(output, input), good: good(output) }
}

function queryOf(fields: Record<string, unknown>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)])
  return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`
}

/**
 * The value of a field of what was typed for it. The form of a text is for the port to judge, which knows what there
 * is.
 */
export function valueOf(field: Field, text: string, name: string, must?: string): unknown {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = field
  if (type === 'integer') {
    const value = Number(text)
    if (/^\d{1,15}$/.test(text) && value >= minimum && value <= maximum) return value
    const range = field.maximum === undefined ? '' : ` from ${minimum} to ${maximum}`
    throw new UsageError(`${name} is ${must ?? `a whole number${range}`}`)
  }
  if (type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw new UsageError(`${name} is true or false`)
  }
  const choices = field.enum ?? (field.anyOf ?? []).flatMap((each) => (typeof each.const === 'string' ? [each.const] : []))
  if (choices.length === 0) return text
  const chosen = choices.find((choice) => choice.toLowerCase() === text.toLowerCase())
  if (chosen === undefined) throw new UsageError(`${name} is ${must ?? `one of ${choices.join(', ')}`}`)
  return chosen
}
