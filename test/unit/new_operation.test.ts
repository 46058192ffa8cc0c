/** Promise: an operation is its declaration alone. The README's example is taken as it stands there, served and described. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import type { Gateway } from '../../gateway/context.ts'
import { LOCK, Protos, type Lock } from '../../gateway/generate/protos.ts'
import { createRouter } from '../../gateway/http/router.ts'
import { operationsOf } from '../../gateway/operations/index.ts'
import type { Call } from '../../gateway/operations/operation.ts'

const folder = join(import.meta.dirname, '..', '..', 'gateway')
const section = readFileSync(join(folder, 'README.md'), 'utf8').split('## A new operation')[1]!
const source = /```ts\n(.*?)```/s.exec(section)![1]!
  .replaceAll("'./", `'${folder}/operations/`).replaceAll("'../", `'${folder}/`)
  .replaceAll("'typebox'", `'${join(folder, '..', 'node_modules', 'typebox', 'build', 'index.mjs')}'`)
const file = join(t.testdir({ 'pair_age.ts': source }), 'pair_age.ts')
const [served] = operationsOf((await import(file)) as Record<string, unknown>)

t.test('it is served, refused and described without anything else', async (t) => {
  t.equal(served!.name, 'GetPairAge')
  const id = '7a1c0000-0000-4000-8000-000000000001'
  t.ok(createRouter([served!]), 'the router takes it')
  const gateway = { pairs: new Map([[id, { id }]]), time: () => 5 } as unknown as Gateway
  const told: unknown[] = []
  const call = { answer: (output: unknown) => told.push(output), refuse: (refused: { code: string }) => told.push(refused.code) }
  const run = (tradingPairId: string): void => served!.operation.run(gateway, call as unknown as Call<never>, { tradingPairId } as never)
  run(id.toUpperCase())
  run('7a1c0000-0000-4000-8000-000000000002')
  t.strictSame(told, [{ tradingPairId: id, ageMs: 5 }, 'NOT_FOUND'])
  t.match(served!.operation.params!.check({ tradingPairId: 'x' }), { code: 'VALIDATION_ERROR', details: { field: 'tradingPairId' } })
  const text = new Protos(JSON.parse(readFileSync(LOCK, 'utf8')) as Lock, [served!]).texts().get('proto/svc/v1/market_service.proto')
  t.match(text, 'rpc GetPairAge(GetPairAgeRequest) returns (GetPairAgeResponse);')
  t.match(text, '  // Milliseconds.\n  int64 age_ms = 2;')
})

t.test('it parses as TypeScript', async (t) => {
  const { diagnostics } = ts.transpileModule(source, { reportDiagnostics: true, compilerOptions: { module: ts.ModuleKind.ESNext } })
  t.strictSame(diagnostics, [])
})
