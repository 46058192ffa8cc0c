/** Every operation as a gRPC method: path, messages and converters, compiled once per thread. */
import type protobuf from 'protobufjs'
import { Refused } from '../refused.ts'
import type { JsonObject } from '../operations/body.ts'
import { type OperationName, OPERATIONS, type ServedOperation } from '../operations/index.ts'
import { flatCheck, partsOf } from '../operations/flat_input.ts'
import type { Operation } from '../operations/operation.ts'
import { compileReader, compileWriter, shapeOf, type Message, type Shape } from './mapping.ts'
import { StrictReader } from './reader.ts'
import { messageOf, PACKAGE } from './schema.ts'

export interface Method {
  readonly name: OperationName
  readonly served: ServedOperation
  /** `/svc.v1.<service>/<method>`: what is called and what is signed. */
  readonly path: string
  readonly request: protobuf.Type
  readonly response: protobuf.Type
  /** The checked input of a decoded request message, or why it is refused. */
  readonly readInput: (message: Message) => JsonObject | Refused
  /** An output as a response message to encode. */
  readonly write: (output: object) => Message
}

export const methodPath = (service: string, name: string): string => `/${PACKAGE}.${service}/${name}`

export function compileMethods(root: protobuf.Root): Method[] {
  return OPERATIONS.map((served) => {
    const { name, row, operation } = served
    const request = messageOf(root, `${name}Request`)
    const response = messageOf(root, `${name}Response`)
    return {
      name, served, request, response,
      path: methodPath(row.service, name),
      readInput: compileInput(request, operation),
      write: compileWriter(response, shapeOf(operation.output)),
    }
  })
}

/** Path, query and body fields of an operation in one shape: a request message holds them all. */
export function inputShape(operation: Operation<never>): Shape {
  const parts = partsOf(operation).map((check) => shapeOf(check.schema))
  const items = Object.fromEntries(Object.entries(operation.items).map(([name, item]) => [name, { type: 'array', items: shapeOf(item) }]))
  return {
    properties: { ...Object.assign({}, ...parts.map((part) => part.properties)), ...items },
    required: parts.flatMap((part) => part.required ?? []),
  }
}

function compileInput(request: protobuf.Type, operation: Operation<never>): Method['readInput'] {
  const read = compileReader(request, inputShape(operation))
  const check = flatCheck(operation)
  return (message) => {
    const input = read(message)
    return check(input) ?? input
  }
}

/** Decodes a request; bytes that are no such message are a refusal. */
export function decodeMessage(type: protobuf.Type, bytes: Buffer): Message | Refused {
  try {
    return type.decode(new StrictReader(bytes)) as unknown as Message
  } catch {
    return new Refused('MALFORMED_REQUEST', 'The bytes are no message of the declared type')
  }
}
