/**
 * All operations, by the names of their exports: found in the files of areas.ts. Router, gRPC, documents, the client and its types derive
 * from this.
 */
import type { TSchema } from 'typebox'
import * as areas from './areas.ts'
import { isOperation, type InputWith, type Operation } from './operation.ts'
import { SERVICES, type Row } from './row.ts'

type Areas = typeof areas
/** The operations among the exports of a file. */
type Declared<Area> = { readonly [Name in keyof Area as Area[Name] extends Operation<never, never> ? Name : never]: Area[Name] }
type United<Union> = (Union extends unknown ? (given: Union) => void : never) extends (given: infer All) => void ? All : never
type Handlers = United<{ [Area in keyof Areas]: Declared<Areas[Area]> }[keyof Areas]>

export type OperationName = keyof Handlers

/** Input (path, query and body fields in one object) and output of every operation, for the typed client. */
export type OperationTypes = {
  readonly [Name in OperationName]: Handlers[Name] extends Operation<infer In, infer Out, infer Items>
    ? { readonly input: InputWith<In, Items>; readonly output: Out }
    : never
}

/** One operation as the router serves it. */
export interface ServedOperation {
  readonly name: OperationName
  readonly row: Row
  readonly operation: Operation<never>
}

/** The operations that `exported` has, ready to be served. */
export const operationsOf = (exported: Readonly<Record<string, unknown>>): ServedOperation[] =>
  Object.entries(exported).filter((entry): entry is [string, Operation<never>] => isOperation(entry[1]))
    .map(([name, operation]) => ({ name: name as OperationName, row: operation.row, operation }))

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const services = Object.keys(SERVICES)
/** By service, path and method, so that the order does not depend on which file is loaded first. */
function inOrder({ row: a }: ServedOperation, { row: b }: ServedOperation): number {
  if (a.service !== b.service) return services.indexOf(a.service) - services.indexOf(b.service)
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method)
}

export const OPERATIONS: readonly ServedOperation[] = Object.values(areas).flatMap(operationsOf).sort(inOrder)

const byName = <Value>(of: (served: ServedOperation) => Value): { readonly [Name in OperationName]: Value } =>
  Object.fromEntries(OPERATIONS.map((served) => [served.name, of(served)])) as { [Name in OperationName]: Value }

/** What each operation says about its callers and costs, by name. */
export const TABLE: { readonly [Name in OperationName]: Row } = byName(({ row }) => row)
export const HANDLERS: { readonly [Name in OperationName]: Operation<never> } = byName(({ operation }) => operation)

/** The schemas of an operation. */
export const schemasOf = ({ operation: { params, query, body, items, output } }: ServedOperation): TSchema[] =>
  [...[params, query, body].filter((check) => check !== null).map(({ schema }) => schema), ...Object.values(items), output]
