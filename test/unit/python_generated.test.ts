/**
 * Promise: the generated files of the Python package are what its generator makes of the documents the service serves,
 * they have every operation of the table, and they say of each whether it may be sent twice as the table's rate classes
 * do.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { operationsOf, type OpenApi } from '../../gateway/client/python/generate/operations.ts'
import { docstring, Types, type Schema } from '../../gateway/client/python/generate/schema.ts'
import { createDocument } from '../../gateway/docs/rest/document.ts'
import { PYTHON_FOLDER, pythonFiles } from '../../gateway/generate/python.ts'
import { TABLE } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'

const folder = join(import.meta.dirname, '..', '..', PYTHON_FOLDER)
const openapi = createDocument() as unknown as OpenApi
const files = pythonFiles()

t.test('the files in the tree are those that are made', async (t) => {
  for (const [name, text] of files) {
    t.ok(readFileSync(join(folder, name), 'utf8') === text, `${name}: npm run generate makes it anew`)
  }
  t.strictSame(readdirSync(folder).filter((name) => name.endsWith('.py')).sort(), ['__init__.py', ...files.keys()].sort())
})

t.test('every operation is there, and may be repeated where the table says that it does no harm', async (t) => {
  const operations = operationsOf(openapi, new Types(openapi.components.schemas))
  t.strictSame(operations.map(({ name }) => name).sort(), Object.keys(TABLE).sort())
  const previews = ['SimulateOrderRisk', 'SimulateParentOrderRisk', 'SimulateRiskBucketOrderRisk']
  const harmless = ['Challenge', 'Refresh', 'SimulateFees', ...previews]
  for (const { name, http, path, access, repeat } of operations) {
    const row: Row = TABLE[name as keyof typeof TABLE]
    t.strictSame([http, path, access], [row.method, row.path, row.access], name)
    const always = row.method === 'GET' || row.rate === 'reduce' || row.rate === 'mass-exit' || harmless.includes(name)
    t.equal(repeat === 'always' || repeat === 'by-id', always, name)
  }
  const byId = operations.filter(({ repeat }) => repeat === 'by-id').map(({ name }) => name)
  t.strictSame(byId.sort(), ['BatchCancelOrders', 'CancelOrder'])
  t.strictSame(operations.filter(({ repeat }) => repeat === 'with-key').map(({ name }) => name).sort(), [
    'AddPositionMargin', 'BatchCreateOrders', 'BatchReplaceOrders', 'CreateOrder', 'DepositCollateral', 'InitiateWithdrawal',
    'ReducePositionMargin', 'ReplaceOrder', 'TransferCollateralFromRiskBucket', 'TransferCollateralFromSubAccount',
    'TransferCollateralToRiskBucket', 'TransferCollateralToSubAccount', 'TransferRewards', 'TransferSubAccountBalance',
    'WithdrawCollateral',
  ])
})

t.test('schemas become types of Python', async (t) => {
  const price: Schema = { $ref: '#/components/schemas/Decimal' }
  const types = new Types({
    Decimal: { type: 'string' },
    Kind: { enum: ['A', 'B'], description: 'What it is.' },
    Row: { type: 'object', required: ['kind'], properties: { kind: { $ref: '#/components/schemas/Kind' }, price }, description: 'A row.' },
  })
  const typeOf = (schema: Schema, asked = false): string => types.typeOf(schema, 'Place', asked)
  t.equal(typeOf(price), 'str')
  t.equal(typeOf(price, true), 'Amount')
  t.equal(typeOf({ type: ['string', 'null'] }), 'str | None')
  t.equal(typeOf({ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'string' }] }), 'str | int')
  t.equal(typeOf({ type: 'array', items: { $ref: '#/components/schemas/Row' } }), 'list[Row]')
  t.equal(typeOf({ type: 'object', properties: {}, additionalProperties: { type: 'string' } }), 'dict[str, Any]')
  t.strictSame(types.source(), [
    '#: What it is.', 'Kind = Literal["A", "B"]', '',
    'class _Row(TypedDict):', '    kind: Kind', '', '',
    'class Row(_Row, total=False):', '    """A row."""', '    price: str', '', '',
  ])
  t.throws(() => typeOf({ type: 'date' }), /no type of Python for date/)
  t.throws(() => typeOf({ $ref: '#/components/schemas/Other' }), /no schema Other/)
  t.throws(() => typeOf({ type: 'object', properties: { from: price } }), /from is no name/)
  t.strictSame(docstring('  ', 'say "no"', 'and \\'), ['  """say \'no\'', '', '  and \\\\', '  """'])
})
