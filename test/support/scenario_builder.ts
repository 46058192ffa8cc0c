/** Steps of the builder-codes program in scenarios; the words are in scenario.ts. */
import { ENROLL_APPLICATION_COMMAND, SET_BUILDER_FEE_COMMAND, SET_BUILDER_PROGRAM_COMMAND, UNCHANGED } from '../../core/layout/builder.ts'
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'

interface BuilderStep {
  readonly layout: Layout
  readonly type: CommandType
  readonly values: Decoded
  /** Who signs; null: the operator. */
  readonly signer: string | null
}

const given = (words: readonly string[], name: string, absent: number): number => {
  const found = words.find((word) => word.startsWith(`${name}=`))
  return found === undefined ? absent : Number(found.slice(name.length + 1))
}

/** The command of a step about what applications charge; `null`: it is about something else. `made`: row and sequence of an account. */
export function builderStep(
  who: string, verb: string | undefined, words: readonly string[], made: (who: string) => { account: number; createdSequence: number },
): BuilderStep | null {
  if (who === 'program') {
    const all = verb === undefined ? [] : [verb, ...words]
    const values = { session: -1, capBps: given(all, 'cap', 100), builderFees: all.includes('off') ? 0 : 1, reserved: 0 }
    return {
      layout: SET_BUILDER_PROGRAM_COMMAND, type: CommandType.SET_BUILDER_PROGRAM, signer: null,
      values: { ...values, revenueSharePpm: Math.round(given(all, 'share', 0) * 1_000_000) },
    }
  }
  if (who === 'enroll') {
    const values = {
      ...made(verb!), session: -1, application: given(words, 'application', 0), active: words.includes('inactive') ? 0 : 1,
      bps: given(words, 'taker', UNCHANGED), makerBps: given(words, 'maker', UNCHANGED),
    }
    return { layout: ENROLL_APPLICATION_COMMAND, type: CommandType.ENROLL_APPLICATION, values, signer: null }
  }
  if (verb !== 'charges') return null
  const values = { bps: Number(words[0]), makerBps: given(words, 'maker', UNCHANGED) }
  return { layout: SET_BUILDER_FEE_COMMAND, type: CommandType.SET_BUILDER_FEE, values, signer: who }
}
