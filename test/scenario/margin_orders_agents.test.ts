/**
 * Promise: a delegated agent trades perpetuals within its grant: leverage up to what is granted, no margin account when none is, closes
 * with CLOSE_POSITION alone. Replacements keep bucket and leverage, and are held to the same.
 */
import t from 'tap'
import { play } from '../support/margin_scene.ts'

const given = ['ann 1000', 'bob 1000']

play(t, 'leverage and margin accounts', {
  given,
  when: [
    ['ann grants bot create,replace leverage=5', 'done'],
    ['bot@ann buys 1 at 100 x6', 'refused AGENT_NOT_ALLOWED LEVERAGE'],
    ['a: bot@ann buys 1 at 100 x5', 'SUBMITTED'],
    ['b: ann buys 1 at 100 x10', 'SUBMITTED'],
    ['bot@ann replaces b price=99', 'refused AGENT_NOT_ALLOWED LEVERAGE'],
    ['ann grants bot create,replace leverage=0 no-margin', 'done'],
    ['bot@ann buys 1 at 100 x5', 'refused AGENT_NOT_ALLOWED MARGIN_ACCOUNT'],
    ['bot@ann replaces a price=99', 'refused AGENT_NOT_ALLOWED MARGIN_ACCOUNT'],
    ['bot@ann buys 1 at 100 spot on S', 'refused AGENT_NOT_ALLOWED PAIR'],
  ],
})

play(t, 'closing is an action of its own', {
  given,
  when: [
    ['bob sells 10 at 100 x10', 'SUBMITTED'],
    ['ann buys 10 at 100 x10', 'FILLED'],
    ['bob buys 10 at 100 x10', 'SUBMITTED'],
    ['ann grants bot create leverage=1', 'done'],
    ['bot@ann closes 1 at 100', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['bot@ann sells 1 at 100 reduce-only', 'FILLED'],
    ['ann grants bot close leverage=1', 'done'],
    ['bot@ann sells 1 at 100 reduce-only', 'refused AGENT_NOT_ALLOWED ACTION'],
    ['bot@ann closes 1 at 100', 'FILLED'],
  ],
  positions: ['ann long 8 at 100 x10'],
})

play(t, 'a replacement keeps its bucket, its place when it shrinks, and what it needs is asked for without the original', {
  given: ['ann 100', 'bob 1000'],
  when: [
    ['a: ann buys 10 at 100 x10 cross', 'SUBMITTED'],
    ['bob buys 1 at 100 x10', 'SUBMITTED'],
    ['b: ann replaces a quantity=9', 'SUBMITTED'],
    ['bob sells 1 at 100 x10 ioc', 'FILLED'],
    ['c: ann replaces b quantity=11', 'refused INSUFFICIENT_MARGIN 110 of 90'],
    ['c: ann replaces b price=99 quantity=9', 'SUBMITTED'],
  ],
  positions: ['ann long 1 at 100 x10'],
  money: ['ann free 0: allocated 10, pending 90, realized 0'],
})
