/**
 * Python types of JSON schemas, as the OpenAPI and AsyncAPI documents have them: typed dictionaries of objects,
 * `Literal` of enumerations, `str` of identifiers, decimals and times.
 *
 * Required and optional fields stand in two classes, because `NotRequired` is younger than Python 3.10. A schema that
 * cannot be said in Python ends the generator: nothing becomes `Any` by accident.
 */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly patternProperties?: unknown
  readonly description?: string
}
export type Schemas = Readonly<Record<string, Schema>>

/** Columns of a generated line. */
export const WIDTH = 120
const KEYWORDS = new Set([
  'and', 'as', 'class', 'def', 'del', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'not', 'or', 'pass', 'raise',
  'return', 'self', 'try', 'while', 'with', 'yield',
])
const REFERENCE = '#/components/schemas/'
/** What amounts may be in requests: text, or Python's exact numbers. */
const AMOUNT = 'Amount'
const SCALARS: Readonly<Record<string, string>> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }

/** `name`, if Python can have a field or an argument of this name. */
export function identifier(name: string): string {
  if (!/^[A-Za-z]\w*$/.test(name) || KEYWORDS.has(name)) throw new Error(`${name} is no name in Python`)
  return name
}

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1)

/** Paragraphs as a docstring behind `indent`. Their Markdown stays as it is. */
export function docstring(indent: string, ...paragraphs: readonly string[]): string[] {
  const lines = paragraphs.flatMap((text, index) => [
    ...(index === 0 ? [] : ['']), ...wrapped(text.replaceAll('\\', '\\\\').replaceAll('"', "'"), WIDTH - indent.length - 6),
  ])
  lines[0] = `"""${lines[0]!}`
  if (paragraphs.length > 1) lines.push('"""')
  else lines[lines.length - 1] += '"""'
  return lines.map((line) => (line === '' ? '' : indent + line))
}

/** `text` in lines of at most so many columns. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** Name of the schema that a reference names. */
export const referred = (reference: string): string => {
  if (!reference.startsWith(REFERENCE)) throw new Error(`${reference} is no shared schema`)
  return reference.slice(REFERENCE.length)
}

export class Types {
  readonly #schemas: Schemas
  /** Objects that requests carry: their amounts may be numbers. */
  readonly #asked = new Set<string>()
  readonly #told = new Set<string>()
  /** Source of each class and alias, by name. */
  readonly #made = new Map<string, string[]>()

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** Every name that was made so far. */
  get names(): string[] {
    return [...this.#made.keys()]
  }

  /** The source of everything that was made, in the order of the names. */
  source(): string[] {
    return [...this.#made].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, lines]) => lines)
  }

  /** Shared schemas that go both ways have text for amounts, as answers do. To be called before {@link typeOf}. */
  announce(schema: Schema, asked: boolean): void {
    const seen = asked ? this.#asked : this.#told
    const visit = (part: Schema): void => {
      if (part.$ref !== undefined) {
        const name = referred(part.$ref)
        if (seen.has(name)) return
        seen.add(name)
        visit(this.#shared(name))
      }
      for (const inner of [...Object.values(part.properties ?? {}), ...(part.anyOf ?? [])]) visit(inner)
      if (part.items !== undefined) visit(part.items)
    }
    visit(schema)
  }

  #shared(name: string): Schema {
    const schema = this.#schemas[name]
    if (schema === undefined) throw new Error(`there is no schema ${name}`)
    return schema
  }

  /** The type of a value; `place` names what has no name of its own; `asked`: it is part of a request. */
  typeOf(schema: Schema, place: string, asked: boolean): string {
    if (schema.$ref !== undefined) return this.#typeOfShared(referred(schema.$ref), asked)
    if (schema.enum !== undefined) return literal(schema.enum)
    if (schema.anyOf !== undefined) {
      return [...new Set(schema.anyOf.map((each, index) => this.typeOf(each, `${place}${index}`, asked)))].join(' | ')
    }
    if (Array.isArray(schema.type)) return schema.type.map((type) => scalar(type as string)).join(' | ')
    if (schema.type === 'array') return `list[${this.typeOf(schema.items ?? {}, `${place}Item`, asked)}]`
    if (schema.type === 'object') return this.#typeOfObject(schema, place, asked)
    return schema.type === undefined ? 'Any' : scalar(schema.type as string)
  }

  #typeOfShared(name: string, asked: boolean): string {
    if (name === 'Decimal') return asked ? AMOUNT : 'str'
    const schema = this.#shared(name)
    if (schema.enum === undefined) return this.typeOf(schema, name, asked)
    this.#made.set(name, [...docComment(schema), ...fitted(`${name} = ${literal(schema.enum)}`), ''])
    return name
  }

  #typeOfObject(schema: Schema, name: string, asked: boolean): string {
    const { properties, additionalProperties, patternProperties } = schema
    const isOpen = typeof additionalProperties === 'object' || patternProperties !== undefined
    if (properties === undefined || isOpen) return 'dict[str, Any]'
    const wholly = asked && !this.#told.has(name)
    if (!this.#made.has(name)) {
      // Taken before its fields are looked at: they may refer to it.
      this.#made.set(name, [])
      this.#made.set(name, this.#classOf(name, schema, wholly))
    }
    return name
  }

  #classOf(name: string, { description, properties = {}, required = [] }: Schema, asked: boolean): string[] {
    const field = ([key, value]: [string, Schema]): string[] => [
      ...fitted(`    ${identifier(key)}: ${this.typeOf(value, name + capital(key), asked)}`),
      ...(value.description === undefined ? [] : docstring('    ', value.description)),
    ]
    const all = Object.entries(properties)
    const must = all.filter(([key]) => required.includes(key))
    const may = all.filter(([key]) => !required.includes(key))
    const about = description === undefined ? [] : docstring('    ', description)
    if (must.length === 0) return [`class ${name}(TypedDict, total=False):`, ...about, ...may.flatMap(field), '', '']
    if (may.length === 0) return [`class ${name}(TypedDict):`, ...about, ...must.flatMap(field), '', '']
    return [
      `class _${name}(TypedDict):`, ...must.flatMap(field), '', '',
      `class ${name}(_${name}, total=False):`, ...about, ...may.flatMap(field), '', '',
    ]
  }
}

const docComment = ({ description }: Schema): string[] =>
  (description === undefined ? [] : wrapped(description, WIDTH - 3).map((line) => `#: ${line}`))

/** A line with values of an enumeration in brackets, in several lines where it is too long. */
function fitted(line: string): string[] {
  const [, indent, head, values, tail] = /^(\s*)(.*Literal\[)(.*?)(\].*)$/.exec(line) ?? []
  if (line.length <= WIDTH || values === undefined) return [line]
  const lines = wrapped(`${values},`, WIDTH - indent!.length - 4).map((each) => `${indent}    ${each}`)
  return [indent! + head!, ...lines, indent! + tail!]
}

function scalar(type: string): string {
  const found = SCALARS[type]
  if (found === undefined) throw new Error(`no type of Python for ${type}`)
  return found
}

function literal(values: readonly unknown[]): string {
  return `Literal[${values.map((value) => (typeof value === 'boolean' ? capital(String(value)) : JSON.stringify(value))).join(', ')}]`
}
