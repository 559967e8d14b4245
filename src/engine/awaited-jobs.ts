/** Jobs that must have completed before kbuild applies the objects after them: hooks of Helm charts. */
import { isObject, type JsonObject } from '../shell/decode.ts';

/** As https://helm.sh/docs/topics/charts_hooks/ names it. */
const HOOK = 'helm.sh/hook';

/** How far a live Job is. */
type JobStanding = 'complete' | 'failed' | 'unfinished';

/** True for the Job of a hook. */
export function isAwaited({ apiVersion, kind, metadata }: JsonObject): boolean {
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  return kind === 'Job' && apiVersion === 'batch/v1' && isObject(annotations) && HOOK in annotations;
}

/** The end that the Job's controller reports of it. */
export function jobStanding({ status }: JsonObject): JobStanding {
  const conditions =
    isObject(status) && Array.isArray(status['conditions']) ? status['conditions'].filter(isObject) : [];
  const holds = (type: string): boolean =>
    conditions.some((condition) => condition['type'] === type && condition['status'] === 'True');
  if (holds('Complete')) return 'complete';
  return holds('Failed') ? 'failed' : 'unfinished';
}

/** Objects in their order; each awaited Job is a part of its own. */
export function partsBetweenJobs(objects: readonly JsonObject[]): (readonly JsonObject[])[] {
  const parts: JsonObject[][] = [];
  let open = false;
  for (const object of objects) {
    const alone = isAwaited(object);
    if (open && !alone) parts.at(-1)!.push(object);
    else parts.push([object]);
    open = !alone;
  }
  return parts;
}
