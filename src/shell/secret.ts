import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

const values = new WeakMap<Secret, string>();

/** A value that no log, event or command may show. It prints as `(secret)` everywhere and is no `Word` of a command. */
export class Secret {
  // Nominal: a structurally equal object is not a Secret.
  readonly #brand = 'Secret';

  private constructor(value: string) {
    values.set(this, value);
  }

  /** Wraps a value that came from a file, the environment, a prompt or a host. */
  static of(value: string): Secret {
    return new Secret(value);
  }

  toString(): string {
    return `(${this.#brand.toLowerCase()})`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** The value itself. A test lists the files that may call it. */
export function revealed(secret: Secret): string {
  return values.get(secret)!;
}

/** A text made of a secret, itself secret. */
export const madeOf = (secret: Secret, make: (value: string) => string): Secret => Secret.of(make(revealed(secret)));

/** SHA-256 of a text, secret or not, in hexadecimal. */
export const sha256Of = (content: string | Secret): string =>
  createHash('sha256')
    .update(content instanceof Secret ? revealed(content) : content)
    .digest('hex');

/** A text made of several secrets, itself secret. */
export const madeOfAll = (secrets: readonly Secret[], make: (values: readonly string[]) => string): Secret =>
  Secret.of(make(secrets.map(revealed)));
