/** A quick thread that meets a broken invariant in the engine and says where (test/unit/quick_bundle.test.ts). */
import { parentPort } from 'node:worker_threads'
import { benchGenesis } from '../../bench/micro/flow.ts'
import { setTime } from '../../core/engine/apply.ts'
import { createState } from '../../core/state/state.ts'

const state = createState(benchGenesis(16, 4))
setTime(state, 10)
try {
  setTime(state, 9)
} catch (error) {
  parentPort!.postMessage((error as Error).stack)
}
