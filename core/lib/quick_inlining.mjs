/** How much the compiler may inline: the engine is many small functions, and the usual budgets leave half the calls of a command. */
import { setFlagsFromString } from 'node:v8'

/** Bytes of bytecode that may be inlined into one function, instead of 920. */
const INLINED = 3000
/** Functions up to so many bytes are inlined whatever the budget, instead of 27: the accessors of rows (state/rows.ts). */
const SMALL = 64

/** Raises the budgets, for all threads of the process and what they compile from now on. */
export function allowInlining() {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED}`)
  setFlagsFromString(`--max-inlined-bytecode-size-small=${SMALL}`)
}
