import { parseArgs } from 'node:util';
import { Unmet } from '../lab/errors.ts';
import { type Way, WAYS } from './way.ts';

/** What the command line of `npm run demo` asks for. */
export interface Options {
  readonly help: boolean;
  /** Undefined: the first way that is possible. */
  readonly way: Way | undefined;
  /** Ends the hosts of a demo that were containers. */
  readonly down: boolean;
  /** Image of Debian 12 that containers are made of. */
  readonly base: string | undefined;
  /** YAML file whose top-level settings replace those of the inventory, e.g. for mirrors. */
  readonly settings: string | undefined;
}

export const USAGE = `npm run demo [-- OPTIONS]: builds a cluster of three hosts with \`kbuild up\`, on this machine

  --with lab         hosts in the lab: as root on Debian 12; builds what the lab lacks first (docs/lab.md)
  --with docker      hosts are privileged containers of Docker: Linux, macOS, WSL (docs/demo.md)
  --with podman      the same with Podman as root
  --with recording   plays a recorded build: nothing happens on this machine
                     without --with: the first of these that is possible here
  --down             ends the containers of a demo, and removes what they wrote
  --base IMAGE       containers: an image of Debian 12 instead of docker.io/library/debian:12
  --settings FILE    containers: YAML whose top-level settings replace those of the inventory, e.g. to name mirrors
  --help             this text
`;

const isWay = (text: string): text is Way => (WAYS as readonly string[]).includes(text);

/** @throws Unmet for a command line that it does not know */
export function options(args: readonly string[]): Options {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        ...{ help: { type: 'boolean', short: 'h' }, down: { type: 'boolean' } },
        ...{ with: { type: 'string' }, base: { type: 'string' }, settings: { type: 'string' } },
      },
    }));
  } catch (error) {
    throw new Unmet(`${(error as Error).message}\n${USAGE}`);
  }
  const way = values.with;
  if (way !== undefined && !isWay(way))
    throw new Unmet(`--with ${way}: there is no such way; it is one of ${WAYS.join(', ')}`);
  return {
    ...{ help: values.help === true, down: values.down === true, way },
    ...{ base: values.base, settings: values.settings },
  };
}
