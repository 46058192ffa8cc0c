/**
 * Promise: revoking an agent ends its grant, its sessions and its resting orders in one step, and nothing else; what is sequenced after
 * it is refused. The wallet may be granted again and is the same agent then, without what it had.
 */
import t from 'tap'
import { AGENT, AGENT_WORDS } from '../../core/state/columns.ts'
import { play, Scene } from '../support/scenario.ts'

const given = ['ann 10 BTC, 1000 USD', 'cat 10 BTC, 1000 USD']

play(t, 'its orders end, those of others stay', {
  given,
  when: [
    ['ann grants bot create,cancel,replace', 'done'],
    ['ann grants dog create', 'done'],
    ['a: bot@ann sells 1 at 110', 'SUBMITTED'],
    ['b: bot@ann buys 1 at 90', 'SUBMITTED'],
    ['dog@ann buys 1 at 91', 'SUBMITTED'],
    ['ann buys 1 at 92', 'SUBMITTED'],
    ['c: bot@ann buys 1 at 93', 'SUBMITTED'],
    ['ann replaces c price=94', 'SUBMITTED'],
    ['cat buys 0.4 at 110', 'FILLED'],
    ['ann revokes bot', '2 ended'],
    ['bot@ann sells 1 at 110', 'refused SESSION_INVALID'],
    ['bot@ann cancels all', 'refused SESSION_INVALID'],
    ['bot@ann refreshes', 'refused SESSION_INVALID'],
    ['bot@ann signs in', 'refused AGENT_NOT_ALLOWED'],
    ['dog@ann buys 1 at 89', 'SUBMITTED'],
  ],
  ended: ['ann buys 1 at 93 REPLACED', 'ann buys 1 at 90 DELEGATION_REVOKED', 'ann sells 0.6 at 110 DELEGATION_REVOKED'],
  book: ['ann buys 1 at 94', 'ann buys 1 at 92', 'ann buys 1 at 91', 'ann buys 1 at 89'],
  balances: ['ann 9.6 BTC, 678 USD, 366 USD locked'],
})

play(t, 'on a halted pair too', {
  given,
  when: [
    ['ann grants bot create', 'done'],
    ['a: bot@ann sells 1 at 110', 'SUBMITTED'],
    ['pair halted', 'done'],
    ['ann cancels a', 'refused PAIR_NOT_ACTIVE'],
    ['ann revokes bot', '1 ended'],
  ],
  ended: ['ann sells 1 at 110 DELEGATION_REVOKED'],
  book: [],
  balances: ['ann 10 BTC, 1000 USD'],
})

play(t, 'only the owner revokes, and only what is active', {
  given,
  when: [
    ['ann grants bot create', 'done'],
    ['cat revokes bot', 'refused NOT_FOUND'],
    ['cat grants bot create', 'done'],
    ['cat revokes bot', '0 ended'],
    ['cat revokes bot', 'refused NOT_FOUND'],
    ['bot@cat signs in', 'refused AGENT_NOT_ALLOWED'],
    ['bot@ann sells 1 at 110', 'SUBMITTED'],
    ['ann revokes bot', '1 ended'],
  ],
})

play(t, 'granted again it is the same agent, with what it is granted now', {
  given,
  when: [
    ['ann grants bot create,cancel', 'done'],
    ['bot@ann buys 1 at 90', 'SUBMITTED'],
    ['ann revokes bot', '1 ended'],
    ['ann grants bot create', 'done'],
    ['bot@ann buys 1 at 90', 'refused SESSION_INVALID'],
    ['bot@ann signs in', 'done'],
    ['b: bot@ann buys 1 at 90', 'SUBMITTED'],
    ['bot@ann cancels b', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['ann revokes bot', '1 ended'],
  ],
  book: [],
})

t.test('an agent keeps its identity; a row given away is another agent', async (t) => {
  const scene = new Scene({ limits: { agentsPerAccount: 2 } })
  const grant = (wallet: string): [row: unknown, created: unknown] => {
    t.equal(scene.step(`ann grants ${wallet} create`), 'done')
    return [scene.result['detail'], scene.result['originalSequence']]
  }
  const first = grant('bot')
  const second = grant('dog')
  t.same(grant('bot'), first, 'granted again')
  t.equal(scene.step('ann grants fox create'), 'refused TOO_MANY_AGENTS')
  scene.step('bot@ann signs in')
  t.match(scene.result, { orderSequence: first[1], slot: first[0] }, 'the session names its agent')
  t.equal(scene.step('ann revokes bot'), '0 ended')
  t.same(grant('bot'), first, 'revoked and granted again')
  t.equal(scene.step('ann revokes dog'), '0 ended')
  t.equal(scene.step('ann revokes bot'), '0 ended')
  const third = grant('fox')
  t.equal(third[0], first[0], 'the oldest revoked row')
  t.not(third[1], first[1], 'is another agent')
  t.equal(scene.step('ann revokes bot'), 'refused NOT_FOUND', 'the old name means nobody')
  t.equal(scene.step('bot@ann signs in'), 'refused AGENT_NOT_ALLOWED')
  t.equal(grant('cow')[0], second[0])
  t.equal(scene.step('ann grants bot create'), 'refused TOO_MANY_AGENTS')
  t.equal(scene.bench.state.agents[Number(third[0]) * AGENT_WORDS + AGENT.NEXT], 0, 'the list ends with the older of the two')
})
