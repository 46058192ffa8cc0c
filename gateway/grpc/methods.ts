/** Every operation as a gRPC method: path, messages and converters, compiled once per thread. */
import type protobuf from 'protobufjs'
import { Refused, refusedField } from '../refused.ts'
import type { JsonObject } from '../operations/body.ts'
import { type OperationName, OPERATIONS, type ServedOperation } from '../operations/index.ts'
import { flatCheck, partsOf } from '../operations/flat_input.ts'
import type { Operation } from '../operations/operation.ts'
import { compileReader, compileWriter, shapeOf, type Message, type Shape } from './mapping.ts'
import { StrictReader, unknownField } from './reader.ts'
import { messageOf, PACKAGE } from './schema.ts'

export interface Method {
  readonly name: OperationName
  readonly served: ServedOperation
  /** `/svc.v1.<service>/<method>`: what is called and what is signed. */
  readonly path: string
  readonly request: protobuf.Type
  readonly response: protobuf.Type
  /** The checked input of a decoded request message, or why it is refused. `unknown`: of {@link decodeMessage}. */
  readonly readInput: (message: Message, unknown: string | null) => JsonObject | Refused
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
  const closed = isClosed(operation)
  return (message, unknown) => {
    if (closed && unknown !== null) {
      return refusedField(unknown, `This service does not know field ${unknown} of the message: compare its .proto files`)
    }
    const input = read(message)
    return check(input) ?? input
  }
}

/**
 * Whether fields that the service does not know are refused: terms of an order must not be lost, and what takes no body over REST
 * takes none here. Everything else may be called by clients of a later version.
 */
const isClosed = ({ row, bodyRule }: Operation<never>): boolean => row.rate === 'create' || bodyRule === 'empty'

/** A decoded request, and where the first field of it is that its type does not have ({@link unknownField}). */
export interface Decoded {
  readonly message: Message
  readonly unknown: string | null
}

/** Decodes a request; bytes that are no such message are a refusal. */
export function decodeMessage(type: protobuf.Type, bytes: Buffer): Decoded | Refused {
  try {
    const reader = new StrictReader(bytes)
    const message = type.decode(reader) as unknown as Message
    return { message, unknown: reader.skipped ? unknownField(type, bytes) : null }
  } catch {
    return new Refused('MALFORMED_REQUEST', 'The bytes are no message of the declared type')
  }
}
