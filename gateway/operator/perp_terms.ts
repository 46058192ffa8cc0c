/**
 * Terms of a perpetual that an operator changes while it trades: what the insurance fund covers of it, and when a jump of its index has
 * to be confirmed. Each change is one SET_PERP of lane 0 (core/programs/perp_settings.ts).
 */
import Type from 'typebox'
import { PerpSetting } from '../../core/layout/margin.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { Amount } from '../operations/amounts.ts'
import { Decimal } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { changed, collateralOf, perpNamed, setPerp, SYMBOL } from './perps.ts'
import { pairName } from './policy.ts'
import { operatorRoute, SENDS } from './route.ts'
import { printable } from './text.ts'

export const SetFundCover = operatorRoute({
  method: 'POST', path: '/perps/cover', token: true,
  summary: 'What the insurance fund covers of a perpetual in a day',
  description: 'A bankruptcy beyond either is deleveraged at once. Days are those of UTC; what was covered today counts.',
  body: Type.Object({
    pair: pairName,
    share: field(Amount, 'Basis points of the fund that one day of the perpetual may cost; 10000: the whole fund, without a bound.'),
    allowance: field(Amount, 'What it covers in a day for one owner, sub-accounts included, in the collateral asset.'),
  }),
  output: Type.Object({ ...changed, share: field(Decimal, 'The share now.'), allowance: field(Decimal, 'The allowance now.') }),
  refusals: [...SENDS, 'NOT_FOUND'],
  example: {
    input: { pair: SYMBOL, share: '2500', allowance: '1000' },
    output: { symbol: SYMBOL, share: '2500', allowance: '1000', sequence: 1042 },
  },
  commands: [{
    name: 'perps cover',
    parameters: [{ field: 'pair', typed: 'PAIR' }, { field: 'share', typed: 'BPS' }, { field: 'allowance', typed: 'AMOUNT' }],
    purpose: 'what the insurance fund covers of a perpetual in a day',
    explains: 'BPS of the fund may go to bankruptcies of the perpetual in a day, and AMOUNT of the collateral asset to one owner. What is\n'
      + 'beyond either is deleveraged at once.',
    example: [`perps cover ${SYMBOL} 2500 1000`, `${SYMBOL}: covered up to 2500 bps of the fund, 1000 an owner (sequence 1042)`],
    show: ({ symbol: name, share, allowance, sequence }) =>
      `${printable(name)}: covered up to ${share} bps of the fund, ${allowance} an owner (sequence ${sequence})`,
  }],
  run: (context, { pair: named, share, allowance }) => {
    const pair = perpNamed(context, named)
    if (pair instanceof Refused) return pair
    const scale = collateralOf(context.state)!.scale
    const [ppm, atoms] = [parseDecimal(share, 2), parseDecimal(allowance, scale)]
    if (ppm === null || ppm < 0n || ppm > 1_000_000n) return refusedField('share', 'share must be 0 to 10000 basis points')
    if (atoms === null || atoms < 0n || atoms >= 2n ** 53n - 1n) return refusedField('allowance', 'allowance must be 0 or more')
    const answer = { share: formatDecimal(ppm, 2), allowance: formatDecimal(atoms, scale) }
    return setPerp(context, pair, { setting: PerpSetting.FUND_COVER, value: Number(ppm), number: Number(atoms) }, answer)
  },
})

export const SetJumpWindow = operatorRoute({
  method: 'POST', path: '/perps/jump', token: true,
  summary: 'When a jump of the index has to be confirmed',
  description: 'An index that moves by more than the least maintenance margin within the window lets orders only reduce until three more '
    + 'prices agree. 0: nothing has to be confirmed, and what waits for it is.',
  body: Type.Object({ pair: pairName, seconds: field(Type.Integer({ minimum: 0, maximum: 3600 }), 'Length of the window; 0: off.') }),
  output: Type.Object({ ...changed, seconds: field(Type.Integer(), 'The window now.') }),
  refusals: [...SENDS, 'NOT_FOUND'],
  example: { input: { pair: SYMBOL, seconds: 60 }, output: { symbol: SYMBOL, seconds: 60, sequence: 1042 } },
  commands: [{
    name: 'perps jump', parameters: [{ field: 'pair', typed: 'PAIR' }, { field: 'seconds', typed: 'SECONDS' }],
    purpose: 'when a jump of the index has to be confirmed',
    explains: 'An index that moves by more than the least maintenance margin within SECONDS lets orders only reduce until three more\n'
      + 'prices agree, each a second after the one before. With 0 nothing has to be confirmed.',
    example: [`perps jump ${SYMBOL} 60`, `${SYMBOL}: jumps within 60 s are confirmed (sequence 1042)`],
    show: ({ symbol: name, seconds, sequence }) =>
      `${printable(name)}: jumps ${seconds === 0 ? 'are not confirmed' : `within ${seconds} s are confirmed`} (sequence ${sequence})`,
  }],
  run: (context, { pair: named, seconds }) => {
    const pair = perpNamed(context, named)
    return pair instanceof Refused ? pair : setPerp(context, pair, { setting: PerpSetting.JUMP_WINDOW, value: seconds }, { seconds })
  },
})
