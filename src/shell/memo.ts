/** Remembers the result of a function for each immutable object: thousands of hosts need the same of one inventory. */
export function onceForEach<O extends object, R>(work: (object: O) => R): (object: O) => R {
  const known = new WeakMap<O, { readonly result: R }>();
  return (object) => {
    const found = known.get(object);
    if (found !== undefined) return found.result;
    const result = work(object);
    known.set(object, { result });
    return result;
  };
}
