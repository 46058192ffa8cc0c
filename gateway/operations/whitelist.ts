/**
 * The whitelist (specification, Whitelist): it is closed, and its one operation stays so that clients that call it get an answer.
 * What is sent is checked, refused and forgotten: it is in no command, no row and no log line.
 */
import Type from 'typebox'
import { Refused } from '../refused.ts'
import { Address } from './auth.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { operation, Uuid } from './operation.ts'
import { describeForm } from './schema_errors.ts'
import { field } from './schema.ts'

/** One @ between two texts without spaces; whether anybody has the address is nobody's question here. */
const EMAIL = /^[^\s@]+@[^\s@]+$/
const TWITTER_NAME = /^[A-Za-z0-9_]{1,15}$/
const TELEGRAM_NAME = /^[a-zA-Z0-9_]{5,32}$/
describeForm(EMAIL, 'an e-mail address')
describeForm(TWITTER_NAME, '1 to 15 letters, digits or underscores')
describeForm(TELEGRAM_NAME, '5 to 32 letters, digits or underscores')
/** Longest path of an e-mail address (RFC 5321). */
const EMAIL_MAX = 254

export const SubmitApplication = operation({
  service: 'WhitelistService', method: 'POST', path: '/api/v1/whitelist',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Ask to be whitelisted (closed)',
  description: 'Deprecated: every well-formed submission is refused with 403 PERMISSION_DENIED and nothing of it is kept. Sign in '
    + 'instead; no application is needed.',
  answer: 'Never given any more.',
  refusals: ['PERMISSION_DENIED'],
  deprecated: true,
  bodyMax: 4 * 1024,
  body: Type.Object({
    walletAddress: field(Address, 'Wallet address.'),
    email: field(Type.String({ maxLength: EMAIL_MAX, pattern: EMAIL.source }), 'E-mail address.'),
    twitterUsername: field(Type.String({ pattern: TWITTER_NAME.source }), 'Name on Twitter, without @.'),
    telegramUsername: field(Type.String({ pattern: TELEGRAM_NAME.source }), 'Name on Telegram, without @.'),
  }),
  output: Type.Object({ message: fields.message, userId: field(Uuid, 'User of the application.') }),
  example: {
    input: { walletAddress: sample.ADDRESS, email: 'desk@example.com', twitterUsername: 'ringbook', telegramUsername: 'ringbook' },
    output: { message: 'Application received', userId: sample.USER },
  },
  run: (_gateway, call) => call.refuse(new Refused('PERMISSION_DENIED', 'Whitelist submissions are closed')),
})
