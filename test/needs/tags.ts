import type { TestTagDefinition } from 'vitest/config';
import { NEEDS, isAllRequired, unmet } from './table.ts';

/** The tags of vitest's configuration: those of unmet needs skip their tests, unless all are required. */
export const needTags = (): TestTagDefinition[] =>
  NEEDS.map((name) => {
    const reason = unmet(name)?.reason;
    const skip = reason !== undefined && !isAllRequired();
    return { name, description: reason ?? 'met on this machine', ...(skip ? { skip } : {}) };
  });
