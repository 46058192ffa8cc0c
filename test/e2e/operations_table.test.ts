/** Promise: the code's operation table is the specification's list, row by row, for every operation this version serves. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { OPERATIONS, TABLE } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'

const root = join(import.meta.dirname, '..', '..')
const listed = readFileSync(join(root, 'test', 'support', 'operations.tsv'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('service\t'))
  .map((line) => line.split('\t') as [service: string, method: string, http: string, path: string, ...rest: string[]])

t.test('every declared operation equals its row', async (t) => {
  for (const [name, { counts: _, ...row }] of Object.entries(TABLE) as [string, Row][]) {
    const [service, , http, path, access, agent, maintenance, rate] = listed.find(([, method]) => method === name) ?? []
    t.strictSame(row, { service, method: http, path, access, agent, maintenance, rate }, name)
  }
})

t.test('every operation of every file is served, and no name is taken twice', async (t) => {
  const sources = globSync('gateway/operations/*.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  const declared = sources.flatMap((source) => [...source.matchAll(/(\w+) = operation\(\{/g)].map(([, name]) => name!))
  t.strictSame(OPERATIONS.map(({ name }) => name).sort(), declared.sort(), 'a file with operations has its line in areas.ts')
  t.equal(new Set(declared).size, declared.length)
})
