/**
 * Promise: damage of the history is never served as truth. A bit, a page, the end of the file or of its log is damaged, and every
 * question is asked of what is left: each is answered as before, or not at all. And a follower that goes on with it comes to a store that
 * answers everything rightly, made anew where it has to be.
 *
 * Forty damages in `npm test`, 450 in `npm run test:deep`.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { askAll, damaged, forgetRound, mend, stage } from '../support/history_damage.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const SEED = seedOf(1)
const COUNTS = { short: 40, deep: 450 }
/** Rounds after which a follower goes on with the damaged store. */
const MENDED = 8
t.setTimeout(0)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/crash/history_damage.test.ts`)

const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const scene = await stage(directory, SEED)
const random = createPrng(SEED)
const all = scene.questions.length

t.test('without damage everything is answered', async (t) => {
  t.ok(scene.truths.size >= 4, `positions in the log: ${[...scene.truths.keys()].join(', ')}`)
  const { at } = damaged(scene, -1, createPrng(SEED))
  t.equal((await mend(scene, at)).outcome.right, all, `${all} questions`)
  forgetRound(at)
})

t.test('damages', async (t) => {
  let [right, failed, harmed, anew, rounds] = [0, 0, 0, 0, 0]
  for (const round of eachRound(t, COUNTS)) {
    rounds++
    const { at, what } = damaged(scene, round, random)
    const outcome = askAll(scene, at)
    if (outcome.wrong.length > 0) t.fail(`round ${round}, ${what}: ${outcome.wrong.length} wrong, ${outcome.wrong[0]}`)
    right += outcome.right
    failed += outcome.failed
    if (outcome.failed > 0) harmed++
    if (round % MENDED === 0) {
      const mended = await mend(scene, at)
      anew += mended.anew
      if (mended.outcome.right !== all) {
        t.fail(`round ${round}, ${what}: mended, ${mended.outcome.failed} unanswered, wrong: ${mended.outcome.wrong[0]}`)
      }
    }
    forgetRound(at)
  }
  t.ok(harmed > rounds / 8, `${harmed} damages of ${rounds} kept questions from being answered`)
  t.ok(right > failed, `${right} answers as before, ${failed} questions not answered`)
  t.ok(anew > 0, `${anew} stores were made anew by a follower`)
})
