/** Promise: walks of an application's accounts leave room for those of others, and one that fails leaves its place. */
import t from 'tap'
import { SCALAR } from '../../core/state/columns.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Call } from '../../gateway/operations/operation.ts'
import { ListApplicationUsers } from '../../gateway/operations/applications.ts'
import type { Refused } from '../../gateway/refused.ts'

const WALKS = 16
/** More than a slice of a walk looks at. */
const ACCOUNTS = 2_000_000

const gatewayOf = (state: object): Gateway =>
  ({ state, gate: new Int32Array(1), faults: new Faults(() => undefined) }) as unknown as Gateway

/** Asks for the users of an application; resolves with '' or the code of the refusal. */
const list = (gateway: Gateway, application: number): Promise<string> => new Promise((resolve) => {
  const call = { application, answer: () => resolve(''), refuse: ({ code }: Refused) => resolve(code) } as unknown as Call<never>
  ListApplicationUsers.run(gateway, call, {} as never)
})

t.test('each walk that fails is INTERNAL, and the next one is tried', async (t) => {
  const gateway = gatewayOf({
    get scalars(): never {
      throw new Error('a fault')
    },
  })
  const codes = new Set<string>()
  for (let i = 0; i < 2 * WALKS; i++) codes.add(await list(gateway, 0))
  t.same([...codes], ['INTERNAL'])
})

t.test('an application that asks for all gets half, another one half of the rest', async (t) => {
  const scalars = new Int32Array(new SharedArrayBuffer(4096))
  scalars[SCALAR.ACCOUNTS] = ACCOUNTS
  // No row is of any application.
  const gateway = gatewayOf({ scalars, i32: new Int32Array(0), accountsAt: 0 })
  const ask = (application: number): Promise<string>[] => Array.from({ length: WALKS }, () => list(gateway, application))
  const codes = await Promise.all([...ask(1), ...ask(2)])
  const served = (from: number): number => codes.slice(from, from + WALKS).filter((code) => code === '').length
  t.same([served(0), served(WALKS)], [WALKS / 2, WALKS / 4])
  t.same([...new Set(codes)], ['', 'OVERLOADED'])
  t.equal(await list(gateway, 1), '', 'and then there is room again')
})
