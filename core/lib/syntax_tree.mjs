/** Looks at a chunk that is parsed (ESTree): its nodes, the names that are declared in it, where a name is a value. */

/** Members of a node that are nodes; types of TypeScript are gone by now. */
export function* childrenOf(node) {
  for (const [key, value] of Object.entries(node)) {
    if (key === 'type' || key === 'start' || key === 'end') continue
    for (const child of Array.isArray(value) ? value : [value]) if (typeof child?.type === 'string') yield child
  }
}

/** Calls `enter` with every node, its parent and the parent's, outermost first; false: nothing below it. */
export function walk(node, enter, parent = null, grandparent = null) {
  if (enter(node, parent, grandparent) === false) return
  for (const child of childrenOf(node)) walk(child, enter, node, parent)
}

export const isFunction = ({ type }) => type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression'

/** Names that only what is inside a node sees; `null`: it makes none. */
export function namesWithin(node) {
  // The name of a function or class that is a value is seen inside alone.
  const own = /^(Function|Class)Expression$/.test(node.type) && node.id !== null ? [node.id.name] : []
  if (isFunction(node)) return new Set([...own, ...declaredIn(node)])
  if (node.type === 'StaticBlock') return declaredBelow(node, new Set())
  return own.length > 0 ? new Set(own) : null
}

/** Names that a pattern declares. */
export function namesOf(pattern) {
  const names = []
  walk(pattern, (node) => {
    if (node.type === 'Identifier') names.push(node.name)
    if (node.type === 'Property') names.push(...namesOf(node.value))
    if (node.type === 'AssignmentPattern') names.push(...namesOf(node.left))
    return node.type !== 'Property' && node.type !== 'AssignmentPattern'
  })
  return names
}

/** Every name declared anywhere inside a function: blocks are not told apart, so some names count as hidden that are not. */
const declaredIn = (fn) => declaredBelow(fn.body, new Set(fn.params.flatMap(namesOf)))

/** Names that blocks of the top level declare; what is declared at the top level itself hides nothing. */
export function declaredInBlocks(program) {
  const names = new Set()
  for (const node of program.body) if (/Statement$/.test(node.type)) declaredBelow(node, names)
  return names
}

export function declaredBelow(root, names) {
  walk(root, (node) => {
    if (node.type === 'VariableDeclarator') for (const name of namesOf(node.id)) names.add(name)
    if (node.type === 'CatchClause' && node.param !== null) for (const name of namesOf(node.param)) names.add(name)
    if ((node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') && node.id !== null) names.add(node.id.name)
    return !isFunction(node)
  })
  return names
}

/** True for a name where it is a value: not a property's, not a key's. */
export const isValue = (node, parent) => node.type === 'Identifier' &&
  !(parent?.type === 'MemberExpression' && parent.property === node && !parent.computed) &&
  !(parent?.type === 'Property' && parent.key === node && !parent.computed && !parent.shorthand)

/** Declarations of constants at the top level. */
export const declarationsOf = (program) => program.body
  .filter(({ type, kind }) => type === 'VariableDeclaration' && kind === 'const')
  .flatMap(({ declarations }) => declarations)
/** Those of one name each, as [name, initial value]. */
export const constantsOf = (program) => declarationsOf(program)
  .filter(({ id }) => id.type === 'Identifier')
  .map(({ id, init }) => [id.name, init])
