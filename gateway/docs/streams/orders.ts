/**
 * Order entry in the AsyncAPI document: a message signed by itself and one of a session for everything that can be asked, with the bodies,
 * answers and examples of the operations behind them.
 */
import { REFUSALS } from '../../../core/layout/refusals.ts'
import {
  ACTIONS, orderResult, RefusedResult, SESSION_OPEN, SessionOpen, SessionOpened, sessionOrder, signedOrder, type OrderAction,
} from '../../ws/order_messages.ts'
import * as sample from '../../operations/example_values.ts'
import { definitionOf, like, referenceTo, type JsonSchema } from '../rest/schemas.ts'
import { MESSAGE_EXAMPLES } from './examples.ts'
import {
  channelObject, messageObject, operationObject, refer, replyOf, withFields, type Example, type Parts, type Section,
} from './parts.ts'
import { ORDER_ENTRY_TEXTS } from './texts.ts'

const CHANNEL = 'orderEntry'
const REFUSED = 'order.refused'
const SESSION_OPENED = 'session.opened'
const SECURITY = { security: [refer('components', 'securitySchemes', 'signedMessage')] }
const { type: _, ...CREDENTIALS } = MESSAGE_EXAMPLES.auth

export const ORDER_ENTRY_SECURITY: JsonSchema = { type: 'asymmetricEncryption', description: ORDER_ENTRY_TEXTS.signature }

/** Everything of order entry. */
export function orderSection(): Section {
  const actions = [...ACTIONS.values()]
  const messages: Parts = { ...sessionMessages(), ...Object.assign({}, ...actions.map(orderMessages)) }
  const names = Object.keys(messages).map((name) => [name, name] as const)
  const operations: Parts = {
    [SESSION_OPEN]: operationObject('receive', CHANNEL, ORDER_ENTRY_TEXTS.session, [SESSION_OPEN], {
      ...SECURITY, ...replyOf(CHANNEL, SESSION_OPENED, REFUSED),
    }),
  }
  for (const { type, operation } of actions) {
    const { summary, description } = operation.text
    operations[type] = operationObject('receive', CHANNEL, summary, [type, countedName(type)], {
      description, ...SECURITY, ...replyOf(CHANNEL, resultName(type), REFUSED),
    })
  }
  return {
    channels: { [CHANNEL]: channelObject(ORDER_ENTRY_TEXTS.about, names, { description: ORDER_ENTRY_TEXTS.bounds }) }, operations, messages,
  }
}

const countedName = (type: string): string => `${type}.counted`
const resultName = (type: string): string => `${type}.result`
const example = (name: string, payload: object): readonly Example[] => [{ name, payload }]

function sessionMessages(): Parts {
  const refusal = REFUSALS.INSUFFICIENT_BALANCE
  const error = { error: refusal.error, message: `${refusal.message}: USDC`, code: refusal.code, statusCode: refusal.http }
  const refused = withFields(definitionOf(RefusedResult), { error: like(RefusedResult.properties.error, referenceTo('Error')) })
  const open = { type: SESSION_OPEN, id: 1, body: JSON.stringify({ counter: 0 }), ...CREDENTIALS }
  return {
    [SESSION_OPEN]: messageObject(SESSION_OPEN, ORDER_ENTRY_TEXTS.session, definitionOf(SessionOpen), example(SESSION_OPEN, open)),
    [SESSION_OPENED]: messageObject(SESSION_OPENED, ORDER_ENTRY_TEXTS.opened, definitionOf(SessionOpened), example(SESSION_OPENED, {
      type: 'result', id: 1, status: 200, data: { expiresAt: sample.EXPIRES },
    })),
    [REFUSED]: messageObject(REFUSED, ORDER_ENTRY_TEXTS.refused, refused, example(REFUSED, {
      type: 'result', id: 1, status: refusal.http, error,
    })),
  }
}

function orderMessages({ type, operation }: OrderAction): Parts {
  const { input, output } = operation.example
  const { summary, answer } = operation.text
  return {
    [type]: messageObject(type, `${summary}, signed.`, definitionOf(signedOrder(type)), example(type, {
      type, id: 1, body: JSON.stringify(input), ...CREDENTIALS,
    })),
    [countedName(type)]: messageObject(countedName(type), `${summary}, in a session.`, definitionOf(sessionOrder(type)), example(type, {
      type, id: 2, counter: 1, body: input,
    })),
    [resultName(type)]: messageObject(resultName(type), answer, definitionOf(orderResult(type)), example(type, {
      type: 'result', id: 2, status: 200, data: output,
    })),
  }
}
