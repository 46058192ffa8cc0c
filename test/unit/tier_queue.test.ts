/**
 * Promise: fee tiers that the history found go to the engine one after the other, at most one per account and a bounded number in all.
 * A full ring is tried again; an answer that never came is counted and holds up nobody. The way through the real ring and engine is in
 * scenario/operator.test.ts.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Admin } from '../../gateway/operator/admin.ts'
import { createTierQueue } from '../../gateway/operator/tiers.ts'

type Answer = Decoded | 'full' | 'late'

/** An admin whose answers the test gives, one at a time. */
function admin() {
  const asked: Decoded[] = []
  const answers: ((answer: Answer) => void)[] = []
  const lines: Extract<FromThread, { type: 'log' }>[] = []
  const done = { at: 0, wake: (): void => undefined }
  const link: Admin = {
    send: (type, _layout, values) => {
      asked.push({ type, ...values })
      return new Promise((resolve) => {
        answers.push(resolve)
        done.wake()
      })
    },
    stop: () => undefined,
  }
  const tell = (message: FromThread): void => {
    if (message.type === 'log') lines.push(message)
    done.wake()
  }
  const told = async (count: number): Promise<unknown> => {
    while (lines.length < count) await new Promise<void>((resolve) => (done.wake = resolve))
    return lines[count - 1]
  }
  /** Answers the next command. */
  const answer = async (with_: Answer): Promise<void> => {
    while (answers.length === 0) await new Promise<void>((resolve) => (done.wake = resolve))
    answers.shift()!(with_)
  }
  return { link, tell, asked, answer, told, lines }
}
const good: Decoded = { code: 0 }

t.test('one command at a time, in order', async (t) => {
  const { link, tell, asked, answer, told } = admin()
  const queue = createTierQueue(link, tell)
  queue.take([{ account: 7, tier: 1 }, { account: 8, tier: 2 }])
  t.same(asked, [{ type: CommandType.SET_FEE_TIER, account: 7, tier: 1 }], 'the second waits for the first')
  t.equal(queue.waiting, 2)
  await answer(good)
  await answer({ code: 600 })
  t.match(await told(1), { level: 'warn', message: 'fee tiers set', fields: { changed: 1, refused: 1, unanswered: 0 } })
  t.same(asked.map(({ account }) => account), [7, 8])
  t.same([queue.changed, queue.waiting], [1, 0])
})

t.test('a full ring is tried again, with what is wished by then', async (t) => {
  const { link, tell, asked, answer, told } = admin()
  const queue = createTierQueue(link, tell)
  queue.take([{ account: 7, tier: 1 }])
  queue.take([{ account: 7, tier: 2 }])
  await answer('full')
  await answer(good)
  t.match(await told(1), { level: 'info', fields: { changed: 1, refused: 0, unanswered: 0 } })
  t.same(asked.map(({ tier }) => tier), [1, 2])
})

t.test('a wish that comes while its account is being changed is not lost', async (t) => {
  const { link, tell, asked, answer, told } = admin()
  const queue = createTierQueue(link, tell)
  queue.take([{ account: 7, tier: 1 }])
  queue.take([{ account: 7, tier: 2 }])
  await answer(good)
  await answer(good)
  t.match(await told(1), { fields: { changed: 2 } })
  t.same(asked.map(({ tier }) => tier), [1, 2])
})

t.test('an answer that does not come is counted', async (t) => {
  const { link, tell, answer, told } = admin()
  const queue = createTierQueue(link, tell)
  queue.take([{ account: 7, tier: 1 }, { account: 8, tier: 1 }])
  await answer('late')
  await answer(good)
  t.match(await told(1), { level: 'warn', fields: { changed: 1, refused: 0, unanswered: 1 } })
})

t.test('more accounts than may wait are turned away, those that wait may still change their wish', async (t) => {
  const { link, tell, asked, answer, told } = admin()
  const queue = createTierQueue(link, tell, 2)
  queue.take([{ account: 1, tier: 1 }, { account: 2, tier: 1 }, { account: 3, tier: 1 }, { account: 2, tier: 4 }])
  t.match(await told(1), { level: 'warn', message: /busy/, fields: { away: 1, waiting: 2 } })
  await answer(good)
  await answer(good)
  await told(2)
  t.same(asked.map(({ account, tier }) => [account, tier]), [[1, 1], [2, 4]])
})

t.test('after the stop nothing more is sent', async (t) => {
  const { link, tell, asked, answer, told } = admin()
  const queue = createTierQueue(link, tell)
  queue.take([{ account: 1, tier: 1 }, { account: 2, tier: 1 }])
  queue.stop()
  await answer(good)
  await told(1)
  t.equal(asked.length, 1)
})
