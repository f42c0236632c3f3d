L(lookback_waves) L(lookback_three_pass) L(lookback_crews)
L(crews_a) L(crews_ar) L(crews_arm) L(crews_arb) L(crews_cr) L(crews_crl) L(waves_r) L(waves_rb) L(waves_rb0) L(waves_r0) 
