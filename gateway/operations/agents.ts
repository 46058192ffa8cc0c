/**
 * Delegated agents: wallets that may trade for the caller's account, inside what they are granted; and their sessions.
 *
 * A grant is checked by the engine at sequence time, for every order command its session signs. Here requests become grants, and grants
 * records. An absent bound is none: every order type, every time in force, any value. Somebody else's agent and a missing one
 * are the same 404. (Specification, delegated agents.)
 */
import Type from 'typebox'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { AGENT_ANSWER, DELEGATED_ANSWER, REVOKED_ANSWER } from '../../core/layout/answers.ts'
import { RESULT } from '../../core/layout/event.ts'
import { agentId, IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { readAgents, type AgentView } from '../../core/view/agents.ts'
import type { RefusalReply, VerifyReply } from '../auth/challenge.ts'
import { askVerify } from '../auth/sign_in_client.ts'
import { encodeOpenDelegatedSession, encodeRevokeAgent, encodeUpsertAgent } from '../bridge/encode.ts'
import { WAY_OUT } from '../bridge/engine_client.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { agentRecord, AgentRecord, AgentRequest, agentTerms } from './agent_record.ts'
import {
  Address, ChainId, ClientId, refusalOf, seconds, SessionKey, SessionSignature, VERIFY_BODY_MAX, WalletSignature,
} from './auth.ts'
import { limitedTo } from './engine_refusal.ts'
import { operation, submit, Uuid, pendingRequest, type Call } from './operation.ts'
import * as sample from './example_values.ts'
import { COMMAND, READ, WALLET } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

const missing = (): Refused => new Refused('NOT_FOUND', 'Delegated agent not found', { field: 'agentId' })

/** The caller's agent with this id, or why there is none. */
function findAgent(gateway: Gateway, { account }: Call<never>, id: string): AgentView | Refused {
  const found = parseId(IdKind.AGENT, id)
  if (found === null) return missing()
  const agents = readAgents(gateway.state, gateway.gate, account)
  if (agents === null) return new Refused('ENGINE_UNAVAILABLE')
  return agents.find(({ row, createdSequence }) => row === found.slot && createdSequence === found.sequence) ?? missing()
}

const EXAMPLE_AGENT = agentId(61, 2)
const exampleGrant = {
  agentAddress: sample.WALLET,
  name: 'grid bot',
  allowedActions: ['CREATE_ORDER' as const, 'CANCEL_ORDER' as const],
  allowedTradingPairIds: [sample.PAIR],
  allowedOrderTypes: ['LIMIT' as const],
  maxOrderNotional: '5000',
  maxOpenOrders: 50,
  expiresAt: '2099-01-15T09:30:00.000Z',
}
const exampleAgent = {
  ...exampleGrant,
  id: EXAMPLE_AGENT,
  isActive: true,
  allowedTimeInForce: ['GTC' as const, 'IOC' as const, 'FOK' as const],
  noMarginAccounts: false,
  openOrders: 3,
  createdAt: sample.MOMENT,
  updatedAt: sample.LATER,
}

export const UpsertDelegatedAgent = operation({
  service: 'DelegatedAgentsService', method: 'POST', path: '/api/v1/delegated-agents',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'none',
  summary: 'Let a wallet trade for you',
  description: 'Grants a wallet what the request says, instead of what it was granted before. What is left out is not bounded. The '
    + 'grant is checked for every order of the agent when its turn comes, so a narrower one holds from the next order on; resting orders '
    + 'stay. A revoked agent becomes active again under the same id.',
  answer: 'The agent.',
  refusals: ['NOT_FOUND', 'TOO_MANY_AGENTS', ...COMMAND, ...READ],
  body: AgentRequest,
  output: AgentRecord,
  example: { input: exampleGrant, output: exampleAgent },
  run: (gateway, call, input) => {
    const terms = agentTerms(gateway, call.account, input)
    if (terms instanceof Refused) return call.refuse(terms)
    const pending = pendingRequest(call, ({ i32 }, base) => {
      const row = i32[base + AGENT_ANSWER.at.agent]!
      const agent = readAgents(gateway.state, gateway.gate, call.account)?.find((each) => each.row === row)
      // It was applied; only the answer could not be read.
      if (agent === undefined) call.refuse(new Refused('SERVICE_UNAVAILABLE'))
      else call.answer(agentRecord(gateway, agent))
    }, limitedTo('TOO_MANY_AGENTS', gateway.genesis.limits.agentsPerAccount))
    submit(gateway, call, pending, (at, correlation) => encodeUpsertAgent(gateway.engine, at, correlation, call, terms))
  },
})

export const ListDelegatedAgents = operation({
  service: 'DelegatedAgentsService', method: 'GET', path: '/api/v1/delegated-agents',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Delegated agents',
  description: 'The agents of the caller, newest first. Revoked ones are listed until their place is needed.',
  answer: 'The agents.',
  refusals: READ,
  output: Type.Object({ agents: field(Type.Array(AgentRecord), 'Newest first.') }),
  example: { input: {}, output: { agents: [exampleAgent] } },
  run: (gateway, call) => {
    const agents = readAgents(gateway.state, gateway.gate, call.account)
    if (agents === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    call.answer({ agents: agents.map((agent) => agentRecord(gateway, agent)) })
  },
})

const AgentPath = Type.Object({ agentId: field(Uuid, 'Delegated agent.') })

export const GetDelegatedAgent = operation({
  service: 'DelegatedAgentsService', method: 'GET', path: '/api/v1/delegated-agents/{agentId}',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'One delegated agent',
  description: "Reads one agent of the caller. Somebody else's agent and a missing one are the same 404.",
  answer: 'The agent.',
  refusals: ['NOT_FOUND', ...READ],
  params: AgentPath,
  output: AgentRecord,
  example: { input: { agentId: EXAMPLE_AGENT }, output: exampleAgent },
  run: (gateway, call, input) => {
    const agent = findAgent(gateway, call, input.agentId)
    if (agent instanceof Refused) call.refuse(agent)
    else call.answer(agentRecord(gateway, agent))
  },
})

/** Ends the grant, the agent's sessions and its resting orders in one step. */
export const RevokeDelegatedAgent = operation({
  service: 'DelegatedAgentsService', method: 'DELETE', path: '/api/v1/delegated-agents/{agentId}',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'none',
  summary: 'Revoke a delegated agent',
  description: 'Ends the grant, every session of the agent and every resting order it placed, in one step. What of it comes later is '
    + 'refused.',
  answer: 'The agent is revoked.',
  refusals: ['NOT_FOUND', ...COMMAND],
  params: AgentPath,
  output: Type.Object(
    {
      revoked: field(Type.Boolean(), 'The grant has ended.'),
      ordersCancelled: field(Type.Integer(), 'Resting orders that ended with it.'),
    },
  ),
  example: { input: { agentId: EXAMPLE_AGENT }, output: { revoked: true, ordersCancelled: 3 } },
  run: (gateway, call, input) => {
    const id = parseId(IdKind.AGENT, input.agentId)
    if (id === null) return call.refuse(missing())
    const pending = pendingRequest(call, ({ i32 }, base) =>
      call.answer({ revoked: true, ordersCancelled: i32[base + REVOKED_ANSWER.at.ordersEnded]! }))
    const { onResult } = pending
    pending.onResult = (records, base) => {
      if (records.i32[base + RESULT.at.code] === REFUSALS.NOT_FOUND.number) call.refuse(missing())
      else onResult(records, base)
    }
    const encode = (at: number, correlation: number): void =>
      encodeRevokeAgent(gateway.engine, at, correlation, call, id.slot, id.sequence)
    submit(gateway, call, pending, encode, WAY_OUT)
  },
})

export const CreateDelegatedSession = operation({
  service: 'DelegatedAgentsService', method: 'POST', path: '/api/v1/delegated-agents/sessions',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Open a session as an agent',
  description: 'The wallet of the agent asks a challenge for its own address and signs it; the session then acts for the owner, inside '
    + 'the grant, and ends with it at the latest. It reads what the owner reads and may not move funds or change who may trade.',
  answer: 'The session is open.',
  refusals: [...WALLET, 'NONCE_INVALID', 'INVALID_SIGNATURE', 'SESSION_KEY_IN_USE', 'AGENT_NOT_ALLOWED', ...COMMAND],
  bodyMax: VERIFY_BODY_MAX,
  body: Type.Object({
    agentAddress: field(Address, 'Wallet of the agent.'),
    ownerAddress: field(Address, 'Wallet of the account that granted.'),
    sessionPublicKey: field(SessionKey, 'Session public key: 32 ed25519 bytes as lowercase hex.'),
    sessionSignature: field(
      SessionSignature,
      "The session key's ed25519 signature of the challenge message, 128 lowercase hex digits: proof that you have the key.",
    ),
    nonce: field(
      Type.String({ minLength: 1, maxLength: 256 }),
      'Single use, valid for 5 minutes, bound to address, session key and application.',
    ),
    signature: field(WalletSignature, 'EIP-191 signature of the challenge message by the wallet of the agent: hex, 0x optional.'),
    clientId: field(
      ClientId,
      'Application the session belongs to; absent: the default one. The same wallet is another user in another application.',
    ),
    chainId: field(ChainId, 'Chain id, if the client wants it checked; a number or its text.'),
  }),
  /** `expiresAt` in Unix seconds; `userId` is the owner. */
  output: Type.Object(
    { expiresAt: fields.expiresAt, agentId: field(Uuid, 'Delegated agent.'), userId: field(Uuid, 'The owner, for whom the session acts.') },
  ),
  example: {
    input: {
      agentAddress: sample.WALLET, ownerAddress: sample.ADDRESS, sessionPublicKey: sample.SESSION_KEY,
      nonce: sample.NONCE, signature: `0x${'5e'.repeat(64)}1b`,
      sessionSignature: '7a'.repeat(64),
    },
    output: { expiresAt: sample.EXPIRES, agentId: EXAMPLE_AGENT, userId: sample.USER },
  },
  run: (gateway, call, { agentAddress, ownerAddress, sessionPublicKey, sessionSignature, nonce, signature, clientId, chainId }) => {
    const pending = pendingRequest(call, ({ i32, f64 }, base) => {
      const { at } = DELEGATED_ANSWER
      call.answer({
        expiresAt: seconds(f64[(base + at.expiresAt) >>> 1]!),
        agentId: agentId(f64[(base + at.agentSequence) >>> 1]!, i32[base + at.agent]!),
        userId: userId(f64[(base + at.accountSequence) >>> 1]!, i32[base + at.account]!),
      })
    })
    const open = (reply: VerifyReply | RefusalReply): void => {
      if ('refusal' in reply) return call.refuse(refusalOf(reply))
      submit(gateway, call, pending, (at, correlation) =>
        encodeOpenDelegatedSession(gateway.engine, at, correlation, reply.application, ownerAddress, agentAddress, sessionPublicKey),
      )
    }
    const proof = { signature, nonce, sessionPublicKey, sessionSignature, clientId, chainId }
    askVerify(gateway.signIn, { address: agentAddress, ...proof, delegated: true, ip: call.ip() }, open)
  },
})
