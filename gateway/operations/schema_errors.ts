/**
 * What is wrong with an input, said so that its sender can mend it: the field, and what it may be.
 *
 * `details.field` is the field by name; of a list it is the list, without the place in it. Choices are listed, limits are named, and
 * patterns are told in words ({@link FORMS}).
 */
import type { TObject, TSchema } from 'typebox'
import { Refused } from '../refused.ts'

/** As TypeBox says it (JSON Schema keywords). */
export interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

/** What of a schema is needed here. */
interface Node {
  readonly anyOf?: readonly Node[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly items?: Node
  readonly properties?: Readonly<Record<string, Node>>
  readonly pattern?: string
}

/** The words for what a pattern asks, by its source. */
const FORMS = new Map<string, string>()

/** Declares in words what `pattern` asks of a text, as in "must be ...". */
export function describeForm(pattern: RegExp, words: string): void {
  FORMS.set(pattern.source, words)
}

/** Characters of an unknown field's name that are repeated. */
const NAME_MAX = 64

/** The first error as a refusal that names the field. */
export function explain(schema: TObject, errors: readonly SchemaError[]): Refused {
  // A field that is none has an error of its value first (`boolean`), and then one that names it (`additionalProperties`).
  const error = errors.find(({ keyword }) => keyword !== 'boolean')
  if (error === undefined) return new Refused('VALIDATION_ERROR')
  const steps = error.instancePath.split('/').slice(1)
  const missing = error.keyword === 'required' ? (error.params as { requiredProperties: string[] }).requiredProperties[0]! : null
  if (error.keyword === 'additionalProperties') {
    const [unknown = ''] = (error.params as { additionalProperties: string[] }).additionalProperties
    const name = unknown.slice(0, NAME_MAX)
    return new Refused('VALIDATION_ERROR', `${name} is no field of this request`, { field: name })
  }
  const names = steps.filter((step) => !/^[0-9]+$/.test(step))
  const field = [...names, ...(missing === null ? [] : [missing])].join('.')
  const message = missing === null ? `${field === '' ? 'it' : field} ${problemOf(nodeAt(schema, steps), error)}` : `${field} is required`
  return new Refused('VALIDATION_ERROR', message, { field })
}

/** The part of the schema that the value at this path was held against. */
function nodeAt(schema: TSchema, steps: readonly string[]): Node | undefined {
  let node: Node | undefined = schema as Node
  for (const step of steps) node = node?.properties?.[step] ?? node?.items
  return node
}

function problemOf(node: Node | undefined, { keyword, message }: SchemaError): string {
  const choices = choicesOf(node)
  if (choices.length === 1) return `must be ${choices[0]!}`
  if (choices.length > 1) return `must be one of ${choices.join(', ')}`
  const words = keyword === 'pattern' && node?.pattern !== undefined ? FORMS.get(node.pattern) : undefined
  if (words !== undefined) return `must be ${words}`
  return keyword === 'pattern' ? 'has the wrong form' : message
}

/** The constants that a value may be; none when it may be anything else too. */
function choicesOf(node: Node | undefined): string[] {
  if (node?.const !== undefined) return [String(node.const)]
  if (node?.enum !== undefined) return node.enum.map(String)
  const options = (node?.anyOf ?? []).filter((option) => (option as { type?: string }).type !== 'null')
  const choices = options.map(choicesOf)
  return choices.every((each) => each.length > 0) ? choices.flat() : []
}
