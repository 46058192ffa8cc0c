/** Promise: walks of an application's accounts that fail leave their places to others. */
import t from 'tap'
import { Faults } from '../../gateway/faults.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Call } from '../../gateway/operations/operation.ts'
import { ListApplicationUsers } from '../../gateway/operations/applications.ts'
import type { Refused } from '../../gateway/refused.ts'

/** Walks at once in a thread are 16. */
const TRIES = 40

t.test('each walk that fails is INTERNAL, and the next one is tried', async (t) => {
  const state = {
    get scalars(): never {
      throw new Error('a fault')
    },
  }
  const gateway = { state, gate: new Int32Array(1), faults: new Faults(() => undefined) } as unknown as Gateway
  const codes = new Set<string>()
  for (let i = 0; i < TRIES; i++) {
    const refused = await new Promise<Refused>((refuse) =>
      ListApplicationUsers.run(gateway, { application: 0, refuse } as unknown as Call<never>, {} as never))
    codes.add(refused.code)
  }
  t.same([...codes], ['INTERNAL'])
})
