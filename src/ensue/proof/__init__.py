"""Why a fact holds, and until when: smallest well-founded proofs, found in a closure and checked by replay."""
