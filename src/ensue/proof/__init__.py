"""Why a fact holds, and until when: smallest well-founded proofs, and their replay."""
