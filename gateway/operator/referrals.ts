/**
 * The referral program, for an operator: what each level of referrers earns, and what is owed to them. A change is one command of lane 0
 * (core/programs/referrals.ts).
 */
import Type from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { SET_REFERRAL_SHARES_COMMAND } from '../../core/layout/referrals.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { PPM_DIGITS, ppmText, shareOf, WHOLE_PPM } from '../../core/lib/ppm.ts'
import { owedRewards, readReferralShares } from '../../core/view/referrals.ts'
import * as fields from '../operations/fields.ts'
import { Decimal } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { note, operatorRoute, SENDS, sendCommand } from './route.ts'
import { table } from './text.ts'

const Shares = field(Type.Array(Decimal), 'Of levels 1 to 3: part of the net fee income of a fill, 0 to 1, together at most 1.')
const EXAMPLE_SHARES = ['0.2', '0.05', '0.025']

export const ShowReferrals = operatorRoute({
  method: 'GET', path: '/referrals', token: true,
  summary: 'Shares of referrers, and what is owed to them',
  description: 'Shares in force for fills from now on, and rewards of all referrers that they did not transfer yet, by asset.',
  output: Type.Object({
    shares: Shares,
    owed: field(Type.Array(Type.Object({
      symbol: field(Type.String(), 'The asset.'), amount: field(Decimal, 'Rewards that were not transferred yet.'),
    })), 'Assets of which something is owed.'),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: { input: {}, output: { shares: EXAMPLE_SHARES, owed: [{ symbol: 'USDC', amount: '12.5' }] } },
  commands: [{
    name: 'referrals show',
    purpose: 'shares of referrers, and what is owed to them',
    explains: 'SHARE is the part of the net fee income of a fill that a level earns. OWED are rewards that were not transferred yet;\n'
      + 'they are no fee income of the house any more.',
    example: ['referrals show', 'LEVEL  SHARE\n    1  0.2\n    2  0.05\n    3  0.025\n\nASSET  OWED\nUSDC   12.5'],
    show: ({ shares, owed }) => [
      table(['LEVEL', 'SHARE'], shares.map((share, level) => [level + 1, share])),
      ...(owed.length === 0 ? ['', 'nothing is owed'] : ['', table(['ASSET', 'OWED'], owed.map(({ symbol, amount }) => [symbol, amount]))]),
    ].join('\n'),
  }],
  run: ({ state, gate }) => {
    const shares = readReferralShares(state, gate)
    const owed = owedRewards(state, gate)
    if (shares === null || owed === null) return new Refused('ENGINE_UNAVAILABLE')
    return {
      shares: shares.map(ppmText),
      owed: state.genesis.assets.flatMap(({ index, symbol, scale }) =>
        (owed[index]! === 0n ? [] : [{ symbol, amount: formatDecimal(owed[index]!, scale) }])),
    }
  },
})

export const SetReferralShares = operatorRoute({
  method: 'POST', path: '/referrals', token: true,
  summary: 'What each level of referrers earns',
  description: 'In force for fills from now on; what was earned stays. 0 for all three ends the program, but not the links.',
  body: Type.Object({
    first: field(Decimal, 'Level 1, 0 to 1.'), second: field(Decimal, 'Level 2, 0 to 1.'), third: field(Decimal, 'Level 3, 0 to 1.'),
  }),
  output: Type.Object({ shares: Shares, sequence: fields.sequence }),
  refusals: [...SENDS],
  example: {
    input: { first: '0.2', second: '0.05', third: '0.025' }, output: { shares: EXAMPLE_SHARES, sequence: 1042 },
  },
  commands: [{
    name: 'referrals set',
    parameters: [{ field: 'first', typed: 'FIRST' }, { field: 'second', typed: 'SECOND' }, { field: 'third', typed: 'THIRD' }],
    purpose: 'what each level of referrers earns',
    explains: 'FIRST, SECOND and THIRD are parts of the net fee income of each fill from now on, 0 to 1, together at most 1: of who\n'
      + 'brought the user, who brought that one, and who brought that one. 0 0 0 ends the program; who brought whom is not forgotten.',
    example: ['referrals set 0.2 0.05 0.025', 'shares are 0.2, 0.05, 0.025 (sequence 1042)'],
    show: ({ shares, sequence }) => `shares are ${shares.join(', ')} (sequence ${sequence})`,
  }],
  run: (context, given) => {
    const ppm: number[] = []
    for (const level of ['first', 'second', 'third'] as const) {
      const share = shareOf(given[level])
      if (share < 0) return refusedField(level, `${level} must be 0 to 1, with ${PPM_DIGITS} digits at most`)
      ppm.push(share)
    }
    if (ppm.reduce((sum, share) => sum + share, 0) > WHOLE_PPM) return refusedField('first', 'the shares must together be at most 1')
    const [first, second, third] = ppm as [number, number, number]
    const values = { first, second, third }
    return sendCommand(context, CommandType.SET_REFERRAL_SHARES, SET_REFERRAL_SHARES_COMMAND, values, ({ sequence }) => {
      const answer = { shares: ppm.map(ppmText), sequence: Number(sequence) }
      note(context, 'referral shares set', answer)
      return answer
    })
  },
})
