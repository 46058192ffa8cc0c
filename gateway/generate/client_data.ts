/**
 * What the browser client needs to call the operations, as a module without imports: it cannot load the files of the areas, which bring
 * handlers and compiled schemas along. `npm run generate` writes it.
 */
import { OPERATIONS, type ServedOperation } from '../operations/index.ts'
import { repeatOf } from '../operations/repeat.ts'

/** Path of the module, below the folder of the repository. */
export const CLIENT_DATA = 'gateway/client/operations.ts'

const HEAD = `/**
 * Written by \`npm run generate\` out of gateway/operations; test/unit/generated.test.ts holds it against them. What the client needs to
 * call each operation: where, how it is signed, whether it may be sent twice, and where its input goes: fields in \`{}\` of the path
 * into it, the others into the JSON body (\`body\`) or into the query.
 */
export interface CallData {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly access: 'public' | 'session' | 'server-key'
  readonly body: boolean
  /** by-id: unless an order is named by its client order id; with-key: with an idempotency key. */
  readonly repeat: 'always' | 'by-id' | 'with-key' | 'never'
}

export const OPERATIONS = {
`
const FOOT = `} as const satisfies Record<string, CallData>

export type OperationName = keyof typeof OPERATIONS
`

/** Of a line, its end included. */
const COLUMNS = 141

function line(served: ServedOperation): string {
  const { name, row: { method, path, access }, operation } = served
  const body = operation.body !== null || (method !== 'GET' && method !== 'DELETE')
  if (operation.body !== null && operation.query !== null) throw new Error(`${name}: the client fills the body or the query, not both`)
  const rest = `access: '${access}', body: ${body}, repeat: '${repeatOf(served)}'`
  const where = `method: '${method}', path: '${path}',`
  const short = `  ${name}: { ${where} ${rest} },\n`
  return short.length <= COLUMNS ? short : `  ${name}: {\n    ${where}\n    ${rest},\n  },\n`
}

/** The module's text. */
export const clientData = (): string => HEAD + OPERATIONS.map(line).join('') + FOOT
