/** Promise: the code's operation table is the specification's list, row by row, for every operation this version serves. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import { TABLE, type Row } from '../../gateway/operations/table.ts'

const listed = readFileSync(join(import.meta.dirname, '..', 'support', 'operations.tsv'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('service\t'))
  .map((line) => line.split('\t') as [service: string, method: string, http: string, path: string, ...rest: string[]])

t.test('every declared operation equals its row', async (t) => {
  for (const [name, row] of Object.entries(TABLE) as [string, Row][]) {
    const [service, , http, path, access, agent, maintenance, rate] = listed.find(([, method]) => method === name) ?? []
    t.strictSame(row, { service, method: http, path, access, agent, maintenance, rate }, name)
  }
})

t.test('every declared operation has a handler, and no other has', async (t) => {
  t.strictSame(OPERATIONS.map(({ name }) => name).sort(), Object.keys(TABLE).sort())
})
