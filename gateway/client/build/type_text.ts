/**
 * TypeBox schemas as the text of TypeScript types, so that the package has types without TypeBox and without anything of the service.
 *
 * Says what `Static` of the schema says, for the kinds of schema that the interface has; another kind is an error of the build. What
 * several operations share gets the name it has in the documents. A test holds the text against the derived types.
 */
import type { TSchema } from 'typebox'
import { formOf, type RecordName } from '../../operations/schema.ts'

/** The parts of a schema that decide its type. */
interface Source {
  readonly type?: string
  readonly description?: string
  readonly anyOf?: readonly Source[]
  readonly const?: string | number | boolean
  readonly enum?: readonly string[]
  readonly items?: Source
  readonly properties?: Readonly<Record<string, Source>>
  readonly required?: readonly string[]
  readonly record?: RecordName
  readonly form?: TSchema
  readonly patternProperties?: Readonly<Record<string, Source>>
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null',
}

/** Writes types; shared schemas by their name. */
export class TypeText {
  readonly #shared: Readonly<Record<string, TSchema>>

  /** `shared`: schemas with names of their own. Plain text under a name (an id, an amount) is just `string`. */
  constructor(shared: Readonly<Record<string, TSchema>>) {
    const worthwhile = Object.entries(shared).filter(([, schema]) => PLAIN[(schema as Source).type ?? ''] === undefined)
    this.#shared = Object.fromEntries(worthwhile)
  }

  /** The declarations of the shared types. */
  declarations(): string {
    const texts = Object.entries(this.#shared).map(([name, schema]) => [name, this.#definitionOf(schema as Source, '')] as const)
    return texts.map(([name, text]) => `export type ${name} = ${text}\n`).join('')
  }

  /** Whether this is the name of a shared type. */
  names(name: string): boolean {
    return Object.hasOwn(this.#shared, name)
  }

  /** The type of a schema; `indent` is that of the line it begins on. */
  of(schema: TSchema | undefined, indent = '  '): string {
    return schema === undefined ? '{}' : this.#textOf(schema as Source, indent)
  }

  #textOf(given: Source, indent: string): string {
    const source = formOf(given)
    const name = source.record?.name
    return name !== undefined && this.names(name) ? name : this.#definitionOf(source, indent)
  }

  #definitionOf(source: Source, indent: string): string {
    if (source.anyOf !== undefined) return [...new Set(source.anyOf.map((each) => this.#textOf(each, indent)))].join(' | ')
    if (source.const !== undefined) return JSON.stringify(source.const)
    if (source.enum !== undefined) return source.enum.map((each) => JSON.stringify(each)).join(' | ')
    if (source.items !== undefined) return `Array<${this.#textOf(source.items, indent)}>`
    if (source.properties !== undefined) return this.#objectOf(source.properties, source.required ?? [], indent)
    if (source.patternProperties !== undefined) {
      return `Record<string, ${Object.values(source.patternProperties).map((each) => this.#textOf(each, indent)).join(' | ')}>`
    }
    if (source.type === undefined) return 'unknown'
    if (source.type === 'object') return '{}'
    const plain = PLAIN[source.type]
    if (plain === undefined) throw new Error(`no type for a schema of type ${source.type}`)
    return plain
  }

  #objectOf(properties: Readonly<Record<string, Source>>, required: readonly string[], indent: string): string {
    const fields = Object.entries(properties)
    if (fields.length === 0) return '{}'
    const deeper = `${indent}  `
    const lines = fields.map(([name, field]) => {
      const about = field.description === undefined ? '' : `${deeper}/** ${field.description.replaceAll('*/', '* /')} */\n`
      return `${about}${deeper}${name}${required.includes(name) ? '' : '?'}: ${this.#textOf(field, deeper)}\n`
    })
    return `{\n${lines.join('')}${indent}}`
  }
}
