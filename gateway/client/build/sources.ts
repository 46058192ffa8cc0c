/**
 * The sources of the package `@ringbook/client`: the files of gateway/client as they are, and in place of what they import from elsewhere
 * in the service generated files that say the same without it. A file that imports anything else from outside ends the build.
 *
 *   client/*.ts, ccxt/*.ts      as they are, but for two
 *   client/channel_types.ts     types of the channels, as text
 *   client/ccxt/register.ts     ccxt's class for each refusal
 *   operations/index.ts         types of the operations, as text
 *   ws/order_messages.ts        messages of order entry by operation
 *   settlement/*.ts             how proofs of settlement are read, as it is
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from 'typebox'
import { OPERATIONS, schemasOf } from '../../operations/index.ts'
import { namedSchemas } from '../../operations/schema.ts'
import { DECLARATIONS } from '../../ws/channels/index.ts'
import type { FrameDeclaration } from '../../ws/channels/channel.ts'
import { ORDER_ACTIONS } from '../../ws/order_messages.ts'
import { CCXT_CLASS } from '../ccxt/register.ts'
import { TypeText } from './type_text.ts'

const RECORDS = Object.fromEntries(namedSchemas(OPERATIONS.flatMap(schemasOf)))
const CLIENT = join(import.meta.dirname, '..')
/** Files without anything of Node, which import nothing; as the client names them. */
const PROOFS = '../../core/settlement'
const HEAD = '/** Made by the build of the package from what the service declares. */\n'

/** Files of the client that the package has in another form. */
const MADE: Readonly<Record<string, () => string>> = { 'channel_types.ts': channelTypes, 'ccxt/register.ts': register }

/** Text of every file by its path. */
export function packageSources(): ReadonlyMap<string, string> {
  const files = new Map([
    ['operations/index.ts', operationTypes()],
    ['ws/order_messages.ts', `${HEAD}export const ORDER_ACTIONS = ${JSON.stringify(ORDER_ACTIONS, null, 2)} as const\n`],
  ])
  for (const file of globSync(['*.ts', 'ccxt/*.ts'], { cwd: CLIENT }).sort()) {
    files.set(`client/${file}`, MADE[file]?.() ?? readFileSync(join(CLIENT, file), 'utf8').replaceAll(`'${PROOFS}/`, "'../settlement/"))
  }
  for (const file of ['leaves.ts', 'proof.ts']) files.set(`settlement/${file}`, readFileSync(join(CLIENT, PROOFS, file), 'utf8'))
  return files
}

function operationTypes(): string {
  const text = new TypeText(RECORDS)
  const types = OPERATIONS.map(({ name, operation: { params, query, body, items, output } }) => {
    const parts = [params, query, body].flatMap((part) => (part === null ? [] : [part.schema as TSchema]))
    const lists = Object.entries(items).map(([field, schema]) => `{ readonly ${field}: readonly (${text.of(schema, '  ')})[] }`)
    const kept = parts.map((part) => (lists.length === 0 ? text.of(part) : `Omit<${text.of(part)}, ${quoted(Object.keys(items))}>`))
    const input = [...kept, ...lists].join(' & ')
    return `  readonly ${name}: { readonly input: ${input === '' ? '{}' : input}; readonly output: ${text.of(output)} }\n`
  })
  return `${HEAD}${text.declarations()}\nexport interface OperationTypes {\n${types.join('')}}\n`
}

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(' | ')

function register(): string {
  return `${HEAD}export const CCXT_CLASS: Readonly<Record<string, string>> = ${JSON.stringify(CCXT_CLASS, null, 2)}\n`
}

function channelTypes(): string {
  const text = new TypeText(RECORDS)
  const channels = DECLARATIONS.map(({ name, access, params, frames }) => {
    const frameTypes = Object.entries(frames as Readonly<Record<string, FrameDeclaration>>).map(([type, { data, sequenced, reasons }]) => {
      const reason = reasons === undefined ? 'undefined' : quoted(reasons)
      const fields = [`data: ${text.of(data, '      ')}`, `sequence: ${sequenced ? 'number' : 'undefined'}`, `reason: ${reason}`]
      return `      readonly ${type}: { readonly ${fields.join('; readonly ')} }\n`
    })
    return `  readonly ${name}: {
    readonly access: '${access}'
    readonly params: ${text.of(params, '    ')}
    readonly frames: {
${frameTypes.join('')}    }
  }
`
  })
  const body = `export interface ChannelTypes {\n${channels.join('')}}\n`
  const used = Object.keys(RECORDS).filter((name) => new RegExp(`\\b${name}\\b`).test(body) && text.names(name))
  return `${HEAD}import type { ${used.sort().join(', ')} } from "../operations/index.ts"\n\n${body}`
}
