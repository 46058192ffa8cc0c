/** The sources of `@ringbook/client`: nothing in them leads out of the package, and schemas become the types that they have. */
import { join } from 'node:path'
import Type, { type TSchema } from 'typebox'
import t from 'tap'
import { packageSources } from '../../gateway/client/build/sources.ts'
import { TypeText } from '../../gateway/client/build/type_text.ts'
import { record } from '../../gateway/operations/schema.ts'

t.test('no source of the package leads out of it', async (t) => {
  const sources = packageSources()
  t.ok(sources.has('client/index.ts') && sources.has('client/channel_types.ts'))
  const packages = new Set<string>()
  for (const [file, text] of sources) {
    for (const [, target] of text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      if (target!.startsWith('.')) t.ok(sources.has(join(file, '..', target!)), `${file} imports ${target}`)
      else packages.add(target!)
    }
  }
  t.strictSame([...packages].sort(), ['@noble/curves/ed25519.js', '@noble/hashes/sha2.js', '@noble/hashes/utils.js'], 'all are bundled')
})

t.test('a schema and its type', async (t) => {
  const Side = record('Side', 'A side.', Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]))
  const text = new TypeText({ Side, Uuid: Type.String() })
  const cases: [schema: TSchema, type: string][] = [
    [Type.String(), 'string'],
    [Type.Integer(), 'number'],
    [Type.Boolean(), 'boolean'],
    [Type.Unknown(), 'unknown'],
    [Type.Union([Type.String(), Type.Null()]), 'string | null'],
    [Side, 'Side'],
    [Type.Array(Type.Union([Type.Literal(1), Type.Literal(2)])), 'Array<1 | 2>'],
    [Type.Object({}), '{}'],
    [Type.Object({ a: Type.String({ description: 'An a.' }), b: Type.Optional(Side) }), '{\n/** An a. */\na: string\nb?: Side\n}'],
    [Type.Record(Type.String(), Type.Integer()), 'Record<string, number>'],
  ]
  for (const [schema, type] of cases) t.equal(text.of(schema).replace(/^ +/gm, ''), type)
  t.throws(() => text.of({ type: 'bigint' } as unknown as TSchema), /no type/)
  t.equal(text.declarations(), 'export type Side = "BUY" | "SELL"\n')
})
